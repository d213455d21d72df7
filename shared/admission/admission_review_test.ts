import fc from "fast-check";
import assert from "node:assert/strict";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { settleVirtually } from "../../tests/contract/support/settle_virtually.ts";
import { forAll } from "../../tests/fixtures/for_all.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import {
  admissionAnswer,
  type AdmissionRequest,
  LONGEST_WARNING,
  LONGEST_WARNINGS,
  parseAdmissionReview,
} from "./admission_review.ts";
import { applyJSONPatch, type JSONPatchOperation, pointerPart } from "./json_patch.ts";
import { type Mutation, type Mutator, type MutatorsOutcome, runMutators } from "./run_mutators.ts";

const REQUEST = {
  ...{ uid: "0df28fbd", namespace: "shop", operation: "CREATE", oldObject: null, dryRun: false },
  kind: { group: "", version: "v1", kind: "Pod" },
  resource: { group: "", version: "v1", resource: "pods" },
  userInfo: { username: "system:serviceaccount:kube-system:replicaset-controller" },
  object: { metadata: { generateName: "web-" }, spec: {} },
};

function text(request: Readonly<Record<string, unknown>> = {}): string {
  const kind = { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" };
  return JSON.stringify({ ...kind, request: { ...REQUEST, ...request } });
}

pure("parseAdmissionReview() reads what a server sends", () => {
  const { uid, object } = REQUEST;
  const read = { uid, object, kind: "Pod", resource: "pods", operation: "CREATE", dryRun: false };
  assert.deepEqual(parseAdmissionReview(text()), { ...read, namespace: "shop", name: "" });
  const resize = { dryRun: true, subResource: "resize", object: null, name: "web" };
  const { object: _none, ...others } = read;
  assert.deepEqual(parseAdmissionReview(text({ ...resize, namespace: undefined })), {
    ...others,
    ...{ resource: "pods/resize", dryRun: true, namespace: "", name: "web" },
  });
});

pure("parseAdmissionReview() names the field that is wrong, with its value", () => {
  const rows: readonly (readonly [Readonly<Record<string, unknown>>, RegExp])[] = [
    [{ uid: "" }, /: request\.uid is "": must/],
    [{ uid: undefined }, /: request\.uid is missing/],
    [{ uid: "x".repeat(129) }, /: request\.uid is "x+…" \(129/],
    [{ operation: "PATCH" }, /: request\.operation is "PATCH".* CREATE,/],
    [{ kind: { group: "" } }, /: request\.kind\.kind is missing/],
    [{ object: [] }, /: request\.object is a list /],
    [{ object: "x" }, /: request\.object is "x": /],
    [{ dryRun: "no" }, /: request\.dryRun is "no"/],
  ];
  for (const [request, message] of rows) {
    const error = { name: "TypeError", message };
    assert.throws(() => parseAdmissionReview(text(request)), error);
  }
  const old = text().replace("/v1", "/v1beta1");
  assert.throws(() => parseAdmissionReview(old), /apiVersion is "admission\.k8s\.io\/v1beta1"/);
  for (const body of ["null", "[]", "5"]) {
    assert.throws(() => parseAdmissionReview(body), /: the body is /);
  }
  // The message has only the length of other text.
  assert.throws(
    () => parseAdmissionReview("secret: {"),
    (error: unknown) =>
      error instanceof SyntaxError && / 9 characters /.test(error.message) &&
      !error.message.includes("secret"),
  );
});

forAll(
  "parseAdmissionReview() reads or refuses by name whatever it is given",
  [fc.json(), fc.dictionary(fc.constantFrom(...Object.keys(REQUEST)), fc.jsonValue())],
  (any, changes) => {
    for (const body of [any, text(changes)]) {
      try {
        assert.equal(typeof parseAdmissionReview(body).uid, "string");
      } catch (error) {
        assert.ok(error instanceof TypeError && error.message.startsWith("Cannot read"), body);
      }
    }
  },
  1,
);

pure("admissionAnswer() writes the patch as base64 of UTF-8, and nothing of none", () => {
  const { response, ...rest } = admissionAnswer("u1", { patch: [], warnings: [] });
  assert.deepEqual(rest, { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" });
  assert.deepEqual(response, { uid: "u1", allowed: true });
  const operation = { op: "add", path: "/x", value: "größer 🦕" } as const;
  const written = admissionAnswer("u1", { patch: [operation], warnings: [] }).response;
  assert.equal(written.patchType, "JSONPatch");
  const bytes = Uint8Array.fromBase64(written.patch ?? "");
  assert.deepEqual(JSON.parse(new TextDecoder().decode(bytes)), [operation]);
});

const warningsOf = (warnings: readonly string[]): readonly string[] =>
  admissionAnswer("u1", { patch: [], warnings }).response.warnings ?? [];

forAll(
  "admissionAnswer() has each warning once, on one line, and no longer than a server takes",
  [fc.array(fc.string({ unit: "binary", maxLength: 400 }), { maxLength: 60 })],
  (warnings) => {
    const [first, second, ...others] = warningsOf(["a\r\nb\u0000c", "a b c", "", "🦕".repeat(300)]);
    assert.deepEqual([first, second?.slice(-3), others], ["a b c", "🦕…", []]);
    const said = warningsOf(warnings);
    assert.equal(new Set(said).size, said.length);
    for (const one of said) {
      assert.ok(one !== "" && [...one].length <= LONGEST_WARNING);
      assert.doesNotMatch(one, /[\p{Cc}\p{Cs}]/u);
    }
    assert.ok(said.reduce((sum, one) => sum + [...one].length, 0) <= LONGEST_WARNINGS);
  },
  1,
);

const POD = { spec: { nodeSelector: { disk: "ssd" }, containers: [{ name: "a" }, { name: "b" }] } };

function apply(...patch: readonly JSONPatchOperation[]): unknown {
  return applyJSONPatch(POD, patch);
}

pure("applyJSONPatch() adds, replaces and removes members, and leaves what it was given", () => {
  const before = structuredClone(POD);
  const after = apply(
    { op: "add", path: "/spec/tolerations", value: [] },
    { op: "replace", path: "/spec/nodeSelector/disk", value: "hdd" },
    { op: "add", path: `/spec/nodeSelector/${pointerPart("a/b~c")}`, value: "1" },
    { op: "remove", path: "/spec/containers/0" },
    { op: "add", path: "/spec/containers/0/image", value: "busybox" },
  );
  const containers = [{ name: "b", image: "busybox" }];
  const nodeSelector = { disk: "hdd", "a/b~c": "1" };
  assert.deepEqual(after, { spec: { nodeSelector, containers, tolerations: [] } });
  assert.deepEqual(POD, before);
});

pure("applyJSONPatch() adds to a list before a place and behind its end", () => {
  const path = "/spec/containers";
  const after = apply(
    { op: "add", path: `${path}/0`, value: 0 },
    { op: "add", path: `${path}/3`, value: 3 },
    { op: "add", path: `${path}/-`, value: 4 },
    { op: "replace", path: `${path}/1`, value: 1 },
  );
  assert.deepEqual(after, { spec: { ...POD.spec, containers: [0, 1, { name: "b" }, 3, 4] } });
});

pure("applyJSONPatch() names the step that can't be made", () => {
  const rows: readonly (readonly [JSONPatchOperation["op"], string, RegExp])[] = [
    ["remove", "/spec/none", /^RangeError: Cannot .*"\/spec\/none": "none" is not/],
    ["replace", "/spec/none", /"none" is not there/],
    ["add", "/metadata/labels", /"metadata" is not there/],
    ["add", "/spec/containers/3", /"3" is not a place/],
    ["replace", "/spec/containers/2", /"2" is not a place/],
    ["replace", "/spec/containers/-", /"-" is not a place/],
    ["add", "/spec/containers/01", /"01" is not a place/],
    ["add", "/spec/nodeSelector/disk/x", /nothing to hold "x"/],
    ["add", "", /names no member/],
    ["add", "spec/x", /names no member/],
    ["remove", "/toString", /"toString" is not there/],
  ];
  for (const [op, path, message] of rows) {
    assert.throws(() => apply({ op, path, value: 1 }), message);
  }
  assert.throws(() => apply({ op: "add", path: "/spec/x", value: undefined }), /no value/);
});

forAll(
  "applyJSONPatch() makes a member of any name, and changes no prototype",
  [
    fc.oneof(fc.string(), fc.constantFrom("__proto__", "constructor", "a/b", "~1", "")),
    fc.jsonValue(),
  ],
  (name, value) => {
    const path = `/${pointerPart(name)}`;
    const added = applyJSONPatch({}, [{ op: "add", path, value }]) as object;
    assert.deepEqual(Object.entries(added), [[name, value]]);
    assert.equal(Object.getPrototypeOf(added), Object.prototype);
    assert.deepEqual(applyJSONPatch(added, [{ op: "remove", path }]), {});
  },
  1,
);

const POD_REQUEST: AdmissionRequest = {
  ...{ uid: "u1", kind: "Pod", resource: "pods", operation: "CREATE", namespace: "shop" },
  ...{ name: "", dryRun: false, object: { spec: {} } },
};

const add = (name: string, value: unknown): JSONPatchOperation => ({
  ...{ op: "add", path: `/spec/${name}`, value },
});

/** A mutator that adds its name to the spec; fields as given. */
function adding(name: string, mutation: Partial<Mutation> = {}): Mutator {
  return { name, mutate: () => ({ patch: [add(name, 1)], ...mutation }) };
}

/** The outcome: added paths, failures by mutator, warnings. */
async function run(mutators: readonly Mutator[], { dryRun = false, clock = newClock() } = {}) {
  const running = runMutators({ ...POD_REQUEST, dryRun }, mutators, { clock, withinMs: 100 });
  const outcome: MutatorsOutcome = await settleVirtually(clock, running);
  return {
    ...{ paths: outcome.patch.map(({ path }) => path), warnings: outcome.warnings },
    failures: outcome.failures.map(({ mutator, error }) => `${mutator}: ${error}`),
  };
}

const newClock = () => createVirtualClock({ wallStart: 0 });

pure("runMutators() shows each the object as those before it have left it", async () => {
  const seen: unknown[] = [];
  const { paths, warnings, failures } = await run([
    adding("a", { warnings: ["said"] }),
    { name: "idle", mutate: () => undefined },
    {
      name: "b",
      mutate({ object }) {
        seen.push(object);
        return { patch: [{ op: "replace", path: "/spec/a", value: 2 }] };
      },
    },
  ]);
  assert.deepEqual(seen, [{ spec: { a: 1 } }]);
  assert.deepEqual([paths, warnings, failures], [["/spec/a", "/spec/a"], ["said"], []]);
  assert.deepEqual(POD_REQUEST.object, { spec: {} });
});

pure("runMutators() leaves out one that fails, with all that belongs to it", async () => {
  const circle: unknown[] = [];
  circle.push(circle);
  let remembered = 0;
  const wrong = (...patch: readonly JSONPatchOperation[]): () => Mutation => () => ({
    ...{ patch, warnings: ["wrong says so"], remember: () => remembered++ },
  });
  const fail = (): never => {
    throw new RangeError("boom");
  };
  const rows: readonly (readonly [Mutator["mutate"], RegExp])[] = [
    [fail, /^wrong: RangeError: boom$/],
    [() => Promise.reject(new RangeError("bang")), /^wrong: RangeError: bang$/],
    [wrong(add("half", 1), { op: "remove", path: "/spec/none" }), /none/],
    ...[1n, circle, undefined, () => 1]
      .map((value) => [wrong(add("half", 1), add("x", value)), /^wrong: /] as const),
  ];
  for (const [mutate, message] of rows) {
    const mutator = { name: "wrong", mutate };
    const { paths, failures, warnings } = await run([adding("a"), mutator, adding("b")]);
    assert.deepEqual([paths, failures.length, remembered], [["/spec/a", "/spec/b"], 1, 0]);
    assert.match(failures[0] ?? "", message);
    assert.match(warnings.join(), /^wrong failed/);
    assert.doesNotMatch(warnings.join(), /boom|bang|says so/);
  }
});

pure("runMutators() waits for all of them together no longer than it may", async () => {
  const clock = newClock();
  const aborted: string[] = [];
  let remembered = 0;
  const slow = (name: string): Mutator => ({
    name,
    async mutate(_request, signal) {
      await clock.sleep(60);
      if (signal.aborted) aborted.push(name);
      return { patch: [], warnings: [name], remember: () => remembered++ };
    },
  });
  const mutators = [slow("first"), slow("second"), adding("a")];
  const { warnings, failures } = await run(mutators, { clock });
  assert.match(failures.join(), /^second: .* in time$/);
  assert.equal(warnings[0], "first");
  await clock.runUntil(1000);
  assert.deepEqual([aborted, remembered], [["second"], 1]);
});

pure("runMutators() keeps the patch where remembering fails", async () => {
  let remembered = 0;
  const mutators = [adding("a", { remember: () => remembered++ })];
  assert.deepEqual((await run(mutators, { dryRun: true })).paths, ["/spec/a"]);
  assert.equal(remembered, 0);
  assert.deepEqual((await run(mutators)).paths, ["/spec/a"]);
  assert.equal(remembered, 1);
  const remember = (): never => {
    throw new RangeError("full");
  };
  const { paths, failures } = await run([adding("a", { remember }), adding("b")]);
  assert.deepEqual([paths, failures], [["/spec/a", "/spec/b"], ["a: RangeError: full"]]);
});

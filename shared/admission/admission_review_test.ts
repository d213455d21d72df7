import fc from "fast-check";
import assert from "node:assert/strict";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { settleVirtually } from "../../tests/contract/support/settle_virtually.ts";
import { forAll } from "../../tests/fixtures/for_all.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import {
  admissionAnswer,
  type AdmissionRequest,
  parseAdmissionReview,
} from "./admission_review.ts";
import type { JSONPatchOperation } from "./json_patch.ts";
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

forAll("parseAdmissionReview() reads or refuses by name whatever it is given", [
  fc.json(),
  fc.dictionary(fc.constantFrom(...Object.keys(REQUEST)), fc.jsonValue()),
], (any, changes) => {
  for (const body of [any, text(changes)]) {
    try {
      assert.equal(typeof parseAdmissionReview(body).uid, "string");
    } catch (error) {
      assert.ok(error instanceof TypeError && error.message.startsWith("Cannot read"), body);
    }
  }
}, 1);

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

const POD_REQUEST: AdmissionRequest = {
  ...{ uid: "u1", kind: "Pod", resource: "pods", operation: "CREATE", namespace: "shop" },
  ...{ name: "", dryRun: false, object: { spec: {} } },
};

const add = (name: string, value: unknown): JSONPatchOperation => ({
  ...{ op: "add", path: `/spec/${name}`, value },
});

function adding(name: string, mutation: Partial<Mutation> = {}): Mutator {
  return { name, mutate: () => ({ patch: [add(name, 1)], ...mutation }) };
}

/** The outcome: added paths, failures by mutator, warnings. */
async function run(mutators: readonly Mutator[], { clock = newClock() } = {}) {
  const running = runMutators(POD_REQUEST, mutators, { clock, withinMs: 100 });
  const outcome: MutatorsOutcome = await settleVirtually(clock, running);
  return {
    ...{ paths: outcome.patch.map(({ path }) => path), warnings: outcome.warnings },
    failures: outcome.failures.map(({ mutator, error }) => `${mutator}: ${error}`),
  };
}

const newClock = () => createVirtualClock({ wallStart: 0 });

pure("runMutators() shows each the object as it was sent, with steps in order", async () => {
  const seen: unknown[] = [];
  const { paths, warnings, failures } = await run([
    adding("a", { warnings: ["said"] }),
    { name: "idle", mutate: () => undefined },
    {
      name: "b",
      mutate({ object }) {
        seen.push(object);
        return { patch: [{ op: "add", path: "/spec/b", value: 2 }] };
      },
    },
  ]);
  assert.deepEqual(seen, [{ spec: {} }]);
  assert.deepEqual([paths, warnings, failures], [["/spec/a", "/spec/b"], ["said"], []]);
});

pure("runMutators() leaves out one that fails, with all that belongs to it", async () => {
  const fail = (): never => {
    throw new RangeError("boom");
  };
  const rows: readonly (readonly [Mutator["mutate"], RegExp])[] = [
    [fail, /^wrong: RangeError: boom$/],
    [() => Promise.reject(new RangeError("bang")), /^wrong: RangeError: bang$/],
  ];
  for (const [mutate, message] of rows) {
    const mutator = { name: "wrong", mutate };
    const { paths, failures, warnings } = await run([adding("a"), mutator, adding("b")]);
    assert.deepEqual([paths, failures.length], [["/spec/a", "/spec/b"], 1]);
    assert.match(failures[0] ?? "", message);
    assert.match(warnings.join(), /^wrong failed/);
    assert.doesNotMatch(warnings.join(), /boom|bang/);
  }
});

pure("runMutators() waits for all of them together no longer than it may", async () => {
  const clock = newClock();
  const aborted: string[] = [];
  const slow = (name: string): Mutator => ({
    name,
    async mutate(_request, signal) {
      await clock.sleep(60);
      if (signal.aborted) aborted.push(name);
      return { patch: [], warnings: [name] };
    },
  });
  const mutators = [slow("first"), slow("second"), adding("a")];
  const { warnings, failures } = await run(mutators, { clock });
  assert.match(failures.join(), /^second: .* in time$/);
  assert.equal(warnings[0], "first");
  await clock.runUntil(1000);
  assert.deepEqual(aborted, ["second"]);
});

import assert from "node:assert/strict";
import type { Mutator } from "../../shared/admission/run_mutators.ts";
import { type LogFields, silentLog } from "../../shared/log.ts";
import { systemClock } from "../system_clock.ts";
import { type AdmissionFact, admissionRoutes, type PostApp } from "./admission_routes.ts";

const REVIEW = {
  apiVersion: "admission.k8s.io/v1",
  kind: "AdmissionReview",
  request: {
    uid: "u1",
    kind: { group: "", version: "v1", kind: "Pod" },
    resource: { group: "", version: "v1", resource: "pods" },
    operation: "CREATE",
    namespace: "shop",
    object: { spec: {} },
  },
};

const LABELS: Mutator = {
  name: "labels",
  mutate: () => ({ patch: [{ op: "add", path: "/spec/a", value: 1 }], warnings: ["seen"] }),
};

const BROKEN: Mutator = {
  name: "broken",
  mutate() {
    throw new RangeError("empty cache");
  },
};

function post(app: PostApp, target: string, body: string) {
  return app.answer({ method: "POST", target, body: new TextEncoder().encode(body) });
}

function stage(mutators: readonly Mutator[]) {
  const facts: AdmissionFact[] = [];
  const warned: LogFields[] = [];
  const debugged: LogFields[] = [];
  const app = admissionRoutes({
    routes: { "/mutate/pods": mutators, "/mutate/idle": [] },
    clock: systemClock,
    log: {
      ...silentLog,
      debug: (_message, fields = {}) => debugged.push(fields),
      warn: (_message, fields = {}) => warned.push(fields),
    },
    observer: { answered: (fact) => facts.push(fact) },
  });
  return {
    facts,
    warned,
    debugged,
    results: () => facts.map(({ route, operation, result }) => `${route} ${operation} ${result}`),
    post: (body: unknown, path = "/mutate/pods") =>
      post(app, path, typeof body === "string" ? body : JSON.stringify(body)),
    get: (target: string) => app.answer({ method: "GET", target, body: new Uint8Array() }),
  };
}

Deno.test("admissionRoutes() answers with the mutators' patch and warnings", async () => {
  const { post, results, facts } = stage([LABELS]);
  const answer = await post(REVIEW);
  assert.equal(answer.status, 200);
  assert.equal(answer.type, "application/json");
  const { response } = JSON.parse(answer.text);
  assert.deepEqual([response.uid, response.allowed, response.warnings], ["u1", true, ["seen"]]);
  assert.deepEqual(JSON.parse(atob(response.patch)), [{ op: "add", path: "/spec/a", value: 1 }]);
  assert.deepEqual(results(), ["/mutate/pods CREATE patched"]);
  assert.ok(facts.every(({ tookMs }) => tookMs >= 0));
});

Deno.test("admissionRoutes() lets pass what no mutator has to do with", async () => {
  const { post, results } = stage([{ name: "idle", mutate: () => undefined }]);
  for (const path of ["/mutate/pods", "/mutate/idle?timeout=2s"]) {
    const { response } = JSON.parse((await post(REVIEW, path)).text);
    assert.deepEqual(response, { uid: "u1", allowed: true });
  }
  assert.deepEqual(results(), [
    "/mutate/pods CREATE unchanged",
    "/mutate/idle CREATE unchanged",
  ]);
});

Deno.test("admissionRoutes() allows what a mutator fails on, warns the client, and logs the cause", async () => {
  const { post, results, warned } = stage([BROKEN, LABELS]);
  const { response } = JSON.parse((await post(REVIEW)).text);
  assert.equal(response.allowed, true);
  assert.ok("patch" in response);
  assert.match(response.warnings.join(), /broken failed/);
  assert.doesNotMatch(response.warnings.join(), /cache/);
  assert.deepEqual(results(), ["/mutate/pods CREATE failed"]);
  assert.match(String(warned[0]?.["error"]), /empty cache/);
});

Deno.test("admissionRoutes() refuses bodies that are no review, and names what is wrong", async () => {
  const { post, results, warned, debugged } = stage([LABELS]);
  const bodies: readonly (readonly [unknown, RegExp])[] = [
    ["", / 0 characters .* not JSON\n$/],
    ["{", /not JSON/],
    [{ ...REVIEW, kind: "Pod" }, /kind is "Pod"/],
    [{ ...REVIEW, request: { ...REVIEW.request, operation: "GET" } }, /operation is "GET"/],
    [" ".repeat(3 * 1024 * 1024 + 1), /more than 3145728 bytes/],
  ];
  for (const [body, message] of bodies) {
    const answer = await post(body);
    assert.equal(answer.status, 400);
    assert.match(answer.text, message);
  }
  assert.deepEqual(results(), bodies.map(() => "/mutate/pods  malformed"));
  assert.deepEqual([debugged.length, warned.length], [bodies.length, 0]);
});

Deno.test("admissionRoutes() reads bodies of up to 3 MiB", async () => {
  const { post } = stage([LABELS]);
  const text = JSON.stringify(REVIEW);
  const most = 3 * 1024 * 1024;
  assert.equal((await post(text.padEnd(most))).status, 200);
  // Bytes, not characters.
  assert.equal((await post(text.padEnd(most - 1) + "\u00e4")).status, 400);
});

Deno.test("admissionRoutes() serves nothing else, and nothing by GET", async () => {
  const { post, get, facts } = stage([LABELS]);
  for (const path of ["/", "/mutate", "/mutate/pods/", "/mutate/podss", "constructor", "", "?"]) {
    assert.equal((await post(REVIEW, path)).status, 404, path);
  }
  assert.equal((await get("/mutate/pods")).status, 404);
  assert.deepEqual(facts, []);
});

Deno.test("admissionRoutes() answers 500 without a message where the program has a fault", async () => {
  const errors: string[] = [];
  const app = admissionRoutes({
    routes: { "/mutate/pods": [LABELS] },
    clock: systemClock,
    log: { ...silentLog, error: (_message, fields = {}) => errors.push(String(fields["error"])) },
    observer: {
      answered() {
        throw new RangeError("bug");
      },
    },
  });
  const body = JSON.stringify(REVIEW);
  const answer = await post(app, "/mutate/pods", body);
  assert.deepEqual([answer.status, answer.text], [500, "internal error\n"]);
  assert.deepEqual(errors, ["RangeError: bug"]);
});

import assert from "node:assert/strict";
import type { Mutator } from "../../shared/admission/run_mutators.ts";
import { type LogFields, silentLog } from "../../shared/log.ts";
import { systemClock } from "../system_clock.ts";
import { type AdmissionAnswer, admissionRoutes, type PostApp } from "./admission_routes.ts";
import {
  certificateFolder,
  createCertificateMaker,
  createCertificateReader,
} from "./certificates.ts";

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

const LARGEST = JSON.stringify(REVIEW).padEnd(3 * 1024 * 1024);

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
  const answers: AdmissionAnswer[] = [];
  const warned: LogFields[] = [];
  const debugged: LogFields[] = [];
  const app = admissionRoutes({
    routes: ["/mutate/pods", "/mutate/idle"],
    mutators,
    clock: systemClock,
    log: {
      ...silentLog,
      debug: (_message, fields = {}) => debugged.push(fields),
      warn: (_message, fields = {}) => warned.push(fields),
    },
    observer: { answered: (answer) => answers.push(answer) },
  });
  return {
    answers,
    warned,
    debugged,
    results: () => answers.map(({ route, operation, result }) => `${route} ${operation} ${result}`),
    post: (body: unknown, path = "/mutate/pods") =>
      post(app, path, typeof body === "string" ? body : JSON.stringify(body)),
    get: (target: string) => app.answer({ method: "GET", target, body: new Uint8Array() }),
  };
}

Deno.test("admissionRoutes() answers with the mutators' patch and warnings", async () => {
  const { post, results, answers } = stage([LABELS]);
  const answer = await post(REVIEW);
  assert.equal(answer.status, 200);
  assert.equal(answer.type, "application/json");
  const { response } = JSON.parse(answer.text);
  assert.deepEqual([response.uid, response.allowed, response.warnings], ["u1", true, ["seen"]]);
  assert.deepEqual(JSON.parse(atob(response.patch)), [{ op: "add", path: "/spec/a", value: 1 }]);
  assert.deepEqual(results(), ["/mutate/pods CREATE patched"]);
  assert.ok(answers.every(({ tookMs }) => tookMs >= 0));
});

Deno.test("admissionRoutes() lets pass what no mutator has to do with", async () => {
  const { post, results } = stage([{ name: "idle", mutate: () => undefined }]);
  for (const path of ["/mutate/pods", "/mutate/idle?timeout=2s"]) {
    const { response } = JSON.parse((await post(REVIEW, path)).text);
    assert.deepEqual(response, { uid: "u1", allowed: true });
  }
  assert.deepEqual(results(), ["/mutate/pods CREATE unchanged", "/mutate/idle CREATE unchanged"]);
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

Deno.test("admissionRoutes() refuses bodies that are no review, and says why", async () => {
  const { post, results, warned, debugged } = stage([LABELS]);
  const bodies: readonly (readonly [unknown, RegExp])[] = [
    ["", / 0 characters .*\n$/],
    ["{", / 1 characters /],
    [{ ...REVIEW, request: undefined }, / request is missing\b/],
    [{ ...REVIEW, request: { ...REVIEW.request, operation: "GET" } }, /operation is "GET"/],
    // Bytes, not characters.
    [LARGEST.slice(1) + "\u00e4", / 3145728 bytes$/m],
  ];
  for (const [body, message] of bodies) {
    const answer = await post(body);
    assert.equal(answer.status, 400);
    assert.match(answer.text, message);
  }
  assert.deepEqual(results(), bodies.map(() => "/mutate/pods  malformed"));
  assert.deepEqual([debugged.length, warned.length], [bodies.length, 0]);
  assert.equal((await post(LARGEST)).status, 200);
});

Deno.test("admissionRoutes() serves nothing else, and nothing by GET", async () => {
  const { post, get, answers } = stage([LABELS]);
  for (const path of ["/", "/mutate", "/mutate/pods/", "/mutate/podss", "constructor", "", "?"]) {
    assert.equal((await post(REVIEW, path)).status, 404, path);
  }
  assert.equal((await get("/mutate/pods")).status, 404);
  assert.deepEqual(answers, []);
});

Deno.test("admissionRoutes() answers 500 without a message where the program has a fault", async () => {
  const errors: string[] = [];
  const app = admissionRoutes({
    routes: ["/mutate/pods"],
    mutators: [LABELS],
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

const DAY_MS = 86_400_000;
const validity = {
  notBeforeMs: Date.UTC(2026, 0, 1),
  notAfterMs: Date.UTC(2026, 0, 1) + 90 * DAY_MS,
};
const maker = createCertificateMaker();
const reader = createCertificateReader();
const names = ["mbcas-webhook.mbcas-system.svc", "other.svc"];

Deno.test("createCertificateMaker() makes certificates for names longer than a subject may be", async () => {
  const authority = await maker.makeAuthority({ name: "one", ...validity });
  const long = [`${"s".repeat(63)}.${"n".repeat(63)}.svc`];
  const serving = await maker.makeServing(authority, { names: long, ...validity });
  assert.deepEqual(reader.readPair(serving).names, long);
});

Deno.test("createCertificateMaker() refuses an authority that it can't use, without its key", async () => {
  const authority = await maker.makeAuthority({ name: "one", ...validity });
  const key = authority.key.replace(/\n[^-]{10}/, "\nAAAAAAAAAA");
  for (const changes of [{ cert: "none" }, { key }]) {
    const making = maker.makeServing({ ...authority, ...changes }, { names, ...validity });
    await assert.rejects(making, (error: unknown) => {
      assert.ok(error instanceof TypeError && error.cause === undefined);
      assert.match(error.message, /authority /);
      return true;
    });
  }
});

Deno.test("createCertificateReader() takes the first of a chain for the server's own", async () => {
  const one = await maker.makeAuthority({ name: "one", ...validity });
  const two = await maker.makeAuthority({ name: "two", ...validity });
  assert.ok(reader.readPair({ cert: one.cert + two.cert, key: one.key }).authority);
  assert.throws(() => reader.readPair({ cert: one.cert + two.cert, key: two.key }), TypeError);
});

Deno.test("createCertificateReader() refuses what is no pair, and repeats nothing of it", async () => {
  const one = await maker.makeAuthority({ name: "one", ...validity });
  const two = await maker.makeAuthority({ name: "two", ...validity });
  const cut = one.cert.slice(0, -40);
  const wrong = [
    () => reader.readPair({ ...one, key: two.key }),
    () => reader.readPair({ ...one, key: two.key.slice(0, 80) }),
    () => reader.readPair({ ...one, cert: one.key }),
    () => reader.readBundle(two.cert + cut),
    () => reader.readBundle(one.cert.replace(/\n.{30}/, "\n" + "A".repeat(30))),
  ];
  for (const read of wrong) {
    assert.throws(read, (error: unknown) => {
      assert.ok(error instanceof TypeError && error.cause === undefined, String(error));
      assert.match(error.message, /^Cannot (read|use) /);
      const secret = [one, two].flatMap(({ key }) => key.split("\n").slice(1, 3));
      for (const line of secret) assert.ok(!error.message.includes(line.slice(0, 12)));
      return true;
    });
  }
});

Deno.test("certificateFolder() reads the files as they are now", async () => {
  const folder = await Deno.makeTempDir();
  const read = certificateFolder(folder);
  await assert.rejects(read(), { message: new RegExp(`^Cannot read ${folder}/tls\\.(crt|key): `) });
  await Deno.writeTextFile(`${folder}/tls.crt`, "one");
  await assert.rejects(read(), { message: new RegExp(`^Cannot read ${folder}/tls\\.key: `) });
  await Deno.writeTextFile(`${folder}/tls.key`, "two");
  assert.deepEqual(await read(), { cert: "one", key: "two" });
  await Deno.writeTextFile(`${folder}/tls.crt`, "three");
  assert.deepEqual(await read(), { cert: "three", key: "two" });
  await Deno.remove(folder, { recursive: true });
});

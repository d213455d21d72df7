import assert from "node:assert/strict";
import type { PodOwner } from "../../shared/api/pod.ts";
import { samplePod } from "../../tests/contract/sample_objects.ts";
import {
  type ReceivedRequest,
  serveCanned,
  statusAnswer,
} from "../../tests/fixtures/canned_server.ts";
import { answerError, statusError } from "./answer_error.ts";
import { type AccessRule, accessRuleText, checkAPI } from "./api_checks.ts";
import { createOwnerTemplates } from "./owner_templates.ts";

const RESIZE: AccessRule = { verb: "patch", group: "", resource: "pods", subresource: "resize" };
const LEASE: AccessRule = {
  verb: "update",
  group: "coordination.k8s.io",
  resource: "leases",
  namespace: "mbcas-system",
  name: "mbcas-controller",
};

/** A server of 1.36 with all that is needed, but for the rights on Leases. */
function complete({ path, body }: ReceivedRequest): unknown {
  switch (path) {
    case "/version":
      return { gitVersion: "v1.36.3" };
    case "/api/v1":
      return { resources: [{ name: "pods" }, { name: "pods/resize" }] };
    case "/openapi/v3/apis/allocation.mbcas.io/v1alpha1":
      return statusAnswer(403);
    case "/apis/allocation.mbcas.io/v1alpha1":
      return { resources: [{ name: "podallocations" }] };
    default:
      return { status: { allowed: !JSON.stringify(body).includes("leases") } };
  }
}

Deno.test("checkAPI() tells version, resources and the rights that are missing", async () => {
  await using server = serveCanned(complete);
  assert.deepEqual(await checkAPI(server.connection, { rules: [RESIZE, LEASE] }), {
    serverVersion: "v1.36.3",
    servesPodResize: true,
    servesAllocations: true,
    unknownFields: [],
    missingRights: [LEASE],
  });
});

Deno.test("checkAPI() takes an old or empty server for an answer, a broken one for an error", async () => {
  await using old = serveCanned(({ path }) =>
    path.startsWith("/apis/allocation") ? statusAnswer(404) : {}
  );
  assert.deepEqual(await checkAPI(old.connection, { rules: [] }), {
    serverVersion: "",
    servesPodResize: false,
    servesAllocations: false,
    unknownFields: [],
    missingRights: [],
  });
  await using broken = serveCanned(() => statusAnswer(503));
  await assert.rejects(checkAPI(broken.connection, { rules: [] }), { status: 503 });
});

Deno.test("accessRuleText() reads as people write rights", () => {
  assert.equal(accessRuleText(RESIZE), "patch pods/resize");
  assert.equal(
    accessRuleText(LEASE),
    'update leases.coordination.k8s.io "mbcas-controller" in mbcas-system',
  );
});

const TEMPLATE = {
  spec: {
    containers: [{ name: "app", resources: { limits: { cpu: "300m" } } }, { name: "free" }],
    initContainers: [
      { name: "setup", resources: { limits: { cpu: "2" } } },
      { name: "proxy", restartPolicy: "Always", resources: { limits: { cpu: "50m" } } },
    ],
  },
};

function owned(owner: Omit<PodOwner, "uid"> | undefined, hash?: string) {
  const pod = samplePod("web");
  const labels: Record<string, string> = hash === undefined
    ? {}
    : { "controller-revision-hash": hash };
  const metadata = owner === undefined ? {} : { owner: { ...owner, uid: "u" } };
  return { ...pod, metadata: { ...pod.metadata, labels, ...metadata } };
}

Deno.test("limitsOf() reads the template, or the revision, that the pod was made from", async () => {
  await using server = serveCanned(({ path }) =>
    path.includes("controllerrevisions")
      ? { data: { spec: { template: TEMPLATE } } }
      : { spec: { template: TEMPLATE } }
  );
  const { limitsOf } = createOwnerTemplates(server.connection);
  const limits = new Map([["app", 300], ["proxy", 50]]);
  const apps = { apiVersion: "apps/v1", name: "web" };
  assert.deepEqual(await limitsOf(owned({ ...apps, kind: "ReplicaSet" })), limits);
  assert.deepEqual(await limitsOf(owned({ ...apps, kind: "StatefulSet" }, "web-77")), limits);
  assert.deepEqual(await limitsOf(owned({ ...apps, kind: "DaemonSet" }, "77")), limits);
  const job = { apiVersion: "batch/v1", kind: "Job", name: "web" };
  assert.deepEqual(await limitsOf(owned(job)), limits);
  assert.deepEqual(server.requests.map(({ path }) => path), [
    "/apis/apps/v1/namespaces/shop/replicasets/web",
    "/apis/apps/v1/namespaces/shop/controllerrevisions/web-77",
    "/apis/apps/v1/namespaces/shop/controllerrevisions/web-77",
    "/apis/batch/v1/namespaces/shop/jobs/web",
  ]);
  assert.equal(await limitsOf(owned({ ...apps, kind: "StatefulSet" })), undefined);
  assert.equal(await limitsOf(owned({ ...apps, apiVersion: "x/v1", kind: "Thing" })), undefined);
  assert.equal(await limitsOf(owned(undefined)), undefined);
});

Deno.test("limitsOf() gives nothing for what it may not read, and throws when nobody answers", async () => {
  let answer: unknown = statusAnswer(403);
  await using server = serveCanned(() => answer);
  const { limitsOf } = createOwnerTemplates(server.connection);
  const pod = owned({ apiVersion: "apps/v1", kind: "ReplicaSet", name: "web" });
  assert.equal(await limitsOf(pod), undefined);
  answer = {};
  assert.equal(await limitsOf(pod), undefined);
  answer = statusAnswer(503);
  await assert.rejects(limitsOf(pod), { status: 503 });
});

Deno.test("answerError() waits for a minute at most, whatever a server asks", () => {
  const far = ["86400", "9".repeat(310), "Fri, 31 Dec 9999 23:59:59 GMT"];
  for (const retryAfter of far) {
    const { retryAfterMs } = answerError({ status: 503, text: "", retryAfter }, 0);
    assert.equal(retryAfterMs, 60_000, retryAfter);
  }
  const text = '{"kind":"Status","details":{"retryAfterSeconds":1e300}}';
  assert.equal(answerError({ status: 503, text }, 0).retryAfterMs, 60_000);
});

Deno.test("answerError() reads Retry-After as seconds or as a date", () => {
  const nowMs = Date.UTC(2026, 0, 1);
  const wait = (retryAfter: string): number | undefined =>
    answerError({ status: 429, text: "", retryAfter }, nowMs).retryAfterMs;
  assert.equal(wait("30"), 30_000);
  assert.equal(wait("Thu, 01 Jan 2026 00:00:05 GMT"), 5000);
  assert.equal(wait("Wed, 31 Dec 2025 00:00:00 GMT"), undefined);
  assert.equal(wait("soon"), undefined);
  assert.equal(
    answerError({ status: 429, text: "" }, nowMs).message,
    "the server answered 429 without a word",
  );
});

Deno.test("statusError() has a status whatever the object says", () => {
  assert.deepEqual([statusError({}).status, statusError({}).reason], [500, "InternalError"]);
  assert.equal(statusError({ code: 410, reason: "Expired" }).status, 410);
  assert.equal(statusError(undefined).causes.length, 0);
});

import assert from "node:assert/strict";
import type { ApiObject } from "../../../shared/api/object.ts";
import { serveCanned, statusAnswer, streamAnswer } from "../../../tests/fixtures/canned_server.ts";
import type { OpenListWatch } from "../client/list_watch.ts";
import { allocationListWatch } from "./allocations.ts";
import { horizontalPodAutoscalerListWatch } from "./autoscalers.ts";
import { leaseListWatch, parseLease } from "./leases.ts";
import { limitRangeListWatch, namespaceListWatch, resourceQuotaListWatch } from "./namespaces.ts";
import { nodeListWatch, persistentVolumeListWatch } from "./nodes.ts";
import { recommendationReportListWatch } from "./optimization_policies.ts";
import {
  parsePodDisruptionBudget,
  podDisruptionBudgetListWatch,
} from "./pod_disruption_budgets.ts";
import { podListWatch } from "./pods.ts";
import { replicaSetListWatch } from "./workloads.ts";
import { sampleAllocation, samplePod } from "../../../tests/contract/support/sample_objects.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { formatMicroTime, parseTime } from "./object_fields.ts";
import type { PodOwner } from "../../../shared/api/pod.ts";
import { createOwnerTemplates } from "./owner_templates.ts";

/** Where each kind is listed. */

const KINDS: Readonly<Record<string, OpenListWatch<ApiObject>>> = {
  "/api/v1/nodes": nodeListWatch,
  "/api/v1/persistentvolumes": persistentVolumeListWatch,
  "/api/v1/namespaces": namespaceListWatch,
  "/api/v1/limitranges": limitRangeListWatch,
  "/api/v1/resourcequotas": resourceQuotaListWatch,
  "/api/v1/pods": podListWatch,
  "/apis/apps/v1/replicasets": replicaSetListWatch,
  "/apis/policy/v1/poddisruptionbudgets": podDisruptionBudgetListWatch,
  "/apis/autoscaling/v2/horizontalpodautoscalers": horizontalPodAutoscalerListWatch,
  "/apis/coordination.k8s.io/v1/leases": leaseListWatch,
  "/apis/allocation.mbcas.io/v1alpha1/podallocations": allocationListWatch,
  "/apis/optipod.io/v1alpha1/recommendationreports": recommendationReportListWatch,
};

for (const [path, open] of Object.entries(KINDS)) {
  Deno.test(`${path} is listed where the server has it, by namespace and selectors`, async () => {
    await using server = serveCanned(() => ({ metadata: { resourceVersion: "9" }, items: [] }));
    const { signal } = new AbortController();
    const listed = await open(server.connection).list(signal);
    assert.deepEqual(listed, { items: [], resourceVersion: "9" });
    await open(server.connection, { namespace: "shop", labelSelector: "a=b" }).list(signal);
    const within = path.replace(/\/([a-z]+)$/, "/namespaces/shop/$1");
    assert.deepEqual(server.requests.map(({ path, query }) => [path, query]), [
      [path, { limit: "500" }],
      [within, { labelSelector: "a=b", limit: "500" }],
    ]);
  });
}

Deno.test("watch() reports an allocation with a reason of a later version", async () => {
  const web = samplePod("web");
  const allocation = sampleAllocation({ ...web, metadata: { ...web.metadata, uid: "u1" } });
  const metadata = { ...allocation.metadata, uid: "u", resourceVersion: "8" };
  const bounds = { revision: 4, reason: "", containers: [] };
  const object = { ...allocation, metadata, status: { bounds, reason: "HPACapped" } };
  await using server = serveCanned(() =>
    streamAnswer([`${JSON.stringify({ type: "MODIFIED", object })}\n`])
  );
  const seen: unknown[] = [];
  const { signal } = new AbortController();
  for await (const event of allocationListWatch(server.connection).watch("7", signal)) {
    seen.push(event.type === "BOOKMARK" ? event.type : event.object.status);
  }
  assert.deepEqual(seen, [{ bounds, reason: "HPACapped" }]);
});

const metadata = { name: "a", namespace: "shop", uid: "u", resourceVersion: "1" };

pure("parseLease() reads a Lease, and one without a holder", () => {
  const spec = {
    holderIdentity: "a",
    leaseDurationSeconds: 15,
    acquireTime: "1970-01-01T00:00:01.000000Z",
    renewTime: "1970-01-01T00:00:02.250000Z",
    leaseTransitions: 4,
  };
  assert.deepEqual(parseLease({ metadata, spec }), {
    metadata,
    holder: "a",
    durationSeconds: 15,
    acquireTimeMs: 1000,
    renewTimeMs: 2250,
    transitions: 4,
  });
  assert.deepEqual(parseLease({ metadata, spec: {} }), {
    metadata,
    holder: "",
    durationSeconds: 0,
    acquireTimeMs: undefined,
    renewTimeMs: undefined,
    transitions: 0,
  });
});

const namespaced = { name: "a", namespace: "shop", uid: "u", resourceVersion: "1" };

pure("parsePodDisruptionBudget() reads its selector, and what it allows", () => {
  const raw = {
    metadata: { ...namespaced, generation: 2 },
    spec: { minAvailable: 1, selector: { matchLabels: { app: "web" } } },
    status: { observedGeneration: 2, disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1 },
  };
  const budget = parsePodDisruptionBudget(raw);
  assert.deepEqual(budget, {
    metadata: namespaced,
    selector: { matchLabels: { app: "web" }, matchExpressions: [] },
    disruptionsAllowed: 1,
    current: true,
    freesUnready: true,
  });
  const change = (spec: object, status: object) =>
    parsePodDisruptionBudget({
      ...raw,
      spec: { ...raw.spec, ...spec },
      status: { ...raw.status, ...status },
    });
  assert.equal(change({}, { currentHealthy: 0 }).freesUnready, false);
  assert.equal(change({}, { desiredHealthy: 0 }).freesUnready, false);
  const always = { unhealthyPodEvictionPolicy: "AlwaysAllow" };
  assert.equal(change(always, { currentHealthy: 0 }).freesUnready, true);
  assert.equal(change({}, { observedGeneration: 1 }).current, false);
  assert.ok(!("selector" in change({ selector: undefined }, {})));
  assert.deepEqual(change({ selector: {} }, {}).selector, {
    matchLabels: {},
    matchExpressions: [],
  });
});

pure("formatMicroTime() writes six decimals, which parseTime() reads again", () => {
  assert.equal(formatMicroTime(0), "1970-01-01T00:00:00.000000Z");
  assert.equal(formatMicroTime(1_767_225_600_123), "2026-01-01T00:00:00.123000Z");
  assert.equal(parseTime(formatMicroTime(1_767_225_600_123)), 1_767_225_600_123);
  assert.equal(parseTime(null), undefined);
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

Deno.test("limitsOf() returns undefined for a forbidden template, and throws when the server fails", async () => {
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

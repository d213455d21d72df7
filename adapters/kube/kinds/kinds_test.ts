import fc from "fast-check";
import assert from "node:assert/strict";
import type { ApiObject } from "../../../shared/api/object.ts";
import type { PodOwner } from "../../../shared/api/pod.ts";
import { recordsOf, reportParts } from "../../../shared/rightsizing/reports.ts";
import { sampleAllocation, samplePod } from "../../../tests/contract/support/sample_objects.ts";
import { serveCanned, statusAnswer, streamAnswer } from "../../../tests/fixtures/canned_server.ts";
import { cases } from "../../../tests/fixtures/cases.ts";
import { mutatedJSON } from "../../../tests/fixtures/mutated_json.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { RAW_OBJECTS } from "../../../tests/fixtures/raw_objects.ts";
import { workloadRecords } from "../../../tests/fixtures/rightsizing/workload_records.ts";
import type { OpenListWatch } from "../client/list_watch.ts";
import { allocationListWatch } from "./allocations.ts";
import { horizontalPodAutoscalerListWatch, parseVerticalPodAutoscaler } from "./autoscalers.ts";
import { leaseListWatch, parseLease } from "./leases.ts";
import {
  limitRangeListWatch,
  namespaceListWatch,
  parseLimitRange,
  parseNamespace,
  parseResourceQuota,
  resourceQuotaListWatch,
} from "./namespaces.ts";
import { nodeListWatch, persistentVolumeListWatch } from "./nodes.ts";
import { formatMicroTime, parseTime } from "./object_fields.ts";
import {
  parseOptimizationPolicy,
  parseRecommendationReport,
  recommendationReportListWatch,
} from "./optimization_policies.ts";
import { createOwnerTemplates } from "./owner_templates.ts";
import {
  parsePodDisruptionBudget,
  podDisruptionBudgetListWatch,
} from "./pod_disruption_budgets.ts";
import { podListWatch } from "./pods.ts";
import { replicaSetListWatch } from "./workloads.ts";

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
  const status = { bounds, reason: "HPACapped" };
  const read = { ...allocation, metadata: { ...metadata, labels: undefined }, status };
  const stored = { ...metadata, labels: { app: "web" }, managedFields: [{}] };
  const object = { ...allocation, metadata: stored, status };
  await using server = serveCanned(() =>
    streamAnswer([`${JSON.stringify({ type: "MODIFIED", object })}\n`])
  );
  const seen: unknown[] = [];
  const { signal } = new AbortController();
  for await (const event of allocationListWatch(server.connection).watch("7", signal)) {
    seen.push(event.type === "BOOKMARK" ? event.type : event.object);
  }
  assert.deepEqual(seen, JSON.parse(JSON.stringify([read])));
});

const identity = { name: "a", uid: "u", resourceVersion: "1" };
const namespaced = { ...identity, namespace: "shop" };

pure("parseLease() reads a Lease, and one without a holder", () => {
  const spec = {
    holderIdentity: "a",
    leaseDurationSeconds: 15,
    acquireTime: "1970-01-01T00:00:01.000000Z",
    renewTime: "1970-01-01T00:00:02.250000Z",
    leaseTransitions: 4,
  };
  assert.deepEqual(parseLease({ metadata: namespaced, spec }), {
    ...{ metadata: namespaced, holder: "a", durationSeconds: 15, transitions: 4 },
    ...{ acquireTimeMs: 1000, renewTimeMs: 2250 },
  });
  assert.deepEqual(parseLease({ metadata: namespaced, spec: {} }), {
    ...{ metadata: namespaced, holder: "", durationSeconds: 0, transitions: 0 },
    ...{ acquireTimeMs: undefined, renewTimeMs: undefined },
  });
});

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
  const change = (spec: object, status: object = {}) =>
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
  assert.ok(!("selector" in change({ selector: undefined })));
  const all = { matchLabels: {}, matchExpressions: [] };
  assert.deepEqual(change({ selector: {} }).selector, all);
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

const labelled = { ...namespaced, labels: { app: "web" } };

pure("parseNamespace() reads labels and annotations", () => {
  const annotations = { note: "b" };
  assert.deepEqual(parseNamespace({ metadata: { ...labelled, annotations } }).metadata, {
    ...identity,
    labels: { app: "web" },
    annotations: { note: "b" },
  });
});

pure("parseLimitRange() keeps the items that bound CPU or memory, or have defaults", () => {
  const limits = [
    { type: "Container", min: { cpu: "50m" }, max: { cpu: "2" }, default: { cpu: "1" } },
    { type: "Pod", maxLimitRequestRatio: { cpu: "2500m" } },
    { type: "Container", max: { memory: "1Gi" } },
    { type: "Container", max: { "ephemeral-storage": "1Gi" } },
    { type: "Pod", min: { memory: "1" }, maxLimitRequestRatio: { memory: "1500m", cpu: "3" } },
    { type: "Container", default: { memory: "1Gi" }, defaultRequest: { "example.com/gpu": "1" } },
    { type: "Pod", max: { cpu: "4" }, default: { cpu: "1" } },
    { type: "PersistentVolumeClaim", max: { cpu: "1" } },
  ];
  assert.deepEqual(parseLimitRange({ metadata: labelled, spec: { limits } }), {
    metadata: namespaced,
    items: [
      { type: "Container", min: 50, max: 2000, defaults: { "limits.cpu": "1" } },
      { type: "Pod", ratio: 2.5 },
      { type: "Container", memory: { max: 2 ** 30 } },
      { type: "Pod", ratio: 3, memory: { min: 1, ratio: 1.5 } },
      { type: "Container", defaults: { "limits.memory": "1Gi", "requests.example.com/gpu": "1" } },
      { type: "Pod", max: 4000 },
    ],
  });
});

pure("parseResourceQuota() prefers what the server enforces to what was asked for", () => {
  const spec = {
    hard: { "limits.cpu": "10" },
    scopes: ["NotTerminating"],
    scopeSelector: {
      matchExpressions: [{ scopeName: "PriorityClass", operator: "In", values: ["high", "low"] }],
    },
  };
  const scopes = [
    { name: "NotTerminating", operator: "Exists", values: [] },
    { name: "PriorityClass", operator: "In", values: ["high", "low"] },
  ];
  assert.deepEqual(parseResourceQuota({ metadata: labelled, spec }), {
    metadata: namespaced,
    bounds: { "limits.cpu": { hard: 10_000, used: 0 } },
    scopes,
  });
  const status = { hard: { "limits.cpu": "8" }, used: { "limits.cpu": "1500m" } };
  const known = parseResourceQuota({ metadata: labelled, spec, status });
  assert.deepEqual(known.bounds["limits.cpu"], { hard: 8000, used: 1500 });
  const other = parseResourceQuota({ metadata: labelled, spec: { hard: { pods: "5" } } });
  assert.deepEqual(other.bounds, {});
});

const FAR = "9223372036854775807";
const MAX = Number.MAX_SAFE_INTEGER;

pure("parseResourceQuota() reads what is left, of two names of one resource the tighter", () => {
  const bound = (name: string, hard: number, used: number) => ({ [name]: { hard, used } });
  const rows = [
    [{ "limits.memory": "1Ki" }, { "limits.memory": "24" }, bound("limits.memory", 1024, 24)],
    [
      { memory: "3k", "requests.memory": "2k" },
      { memory: "2500", "requests.memory": "1k" },
      bound("requests.memory", 3000, 2500),
    ],
    [{ "requests.cpu": "2" }, { "requests.cpu": "500m" }, bound("requests.cpu", 2000, 500)],
    [{ cpu: "1" }, {}, bound("requests.cpu", 1000, 0)],
    [
      { cpu: "3", "requests.cpu": "2" },
      { cpu: "1", "requests.cpu": "1" },
      bound("requests.cpu", 2000, 1000),
    ],
    // Too large to count.
    [{ memory: FAR }, {}, bound("requests.memory", MAX, 0)],
    [{ "limits.cpu": FAR }, {}, bound("limits.cpu", MAX, 0)],
  ] as const;
  for (const [hard, used, bounds] of rows) {
    const status = { hard, used };
    const quota = parseResourceQuota({ metadata: labelled, spec: { hard }, status });
    assert.deepEqual(quota.bounds, bounds);
  }
});

pure("parseLimitRange() reports a negative quantity, and caps a large one", () => {
  const read = (limits: unknown) => parseLimitRange({ metadata: labelled, spec: { limits } });
  const { unreadable = "", items } = read([{ type: "Pod", min: { cpu: "-1" } }]);
  assert.match(unreadable, /CPU quantity: "-1"/);
  assert.deepEqual(items, []);
  assert.deepEqual(read(null).items, []);
  const largest = [{ type: "Container", max: MAX }];
  assert.deepEqual(read([{ type: "Container", max: { cpu: FAR } }]).items, largest);
});

/** Readers of specs that no server of ours has checked, or not by all rules. */
const PARSERS = {
  VerticalPodAutoscaler: parseVerticalPodAutoscaler,
  OptimizationPolicy: parseOptimizationPolicy,
} satisfies Readonly<Partial<Record<keyof typeof RAW_OBJECTS, (raw: unknown) => ApiObject>>>;

/** Ranges of members; all others are counts, millicores or bytes. */
const RANGES: Readonly<Record<string, readonly [least: number, most: number]>> = {
  safetyFactor: [1, 10],
  limitMultipliers: [1, 10],
};
/** The times that a Date can hold, ms. */
const LAST_MS = 8.64e15;

/** Fails unless each number within is finite and in the range of its member. */
function assertInRange(value: unknown, name = "object"): void {
  if (typeof value === "number") {
    const [least, most] = RANGES[name] ??
      (name.endsWith("Ms") ? [-LAST_MS, LAST_MS] : [0, Number.MAX_SAFE_INTEGER]);
    assert.ok(value >= least && value <= most, `${name} is ${value}`);
    if (!(name in RANGES)) assert.ok(Number.isInteger(value), `${name} is ${value}`);
  } else if (typeof value === "object" && value !== null) {
    const same = Array.isArray(value) || name in RANGES;
    for (const [key, one] of Object.entries(value)) assertInRange(one, same ? name : key);
  }
}

for (const kind of Object.keys(PARSERS) as (keyof typeof PARSERS)[]) {
  const sample = RAW_OBJECTS[kind];

  pure(`the parser of ${kind} reads what is in range, or names what it can't read`, () => {
    assertInRange(PARSERS[kind](sample));
    fc.assert(
      fc.property(mutatedJSON(sample), (mutated) => {
        // The server itself writes the metadata.
        const raw = { ...Object(mutated), metadata: sample.metadata };
        const before = JSON.stringify(raw);
        try {
          assertInRange(PARSERS[kind](raw));
        } catch (error) {
          assert.ok(error instanceof TypeError || error instanceof SyntaxError, String(error));
          assert.match(error.message, /^Cannot (read|parse) [^\p{C}]{5,2000}$/u);
        }
        assert.equal(JSON.stringify(raw), before);
      }),
      cases(3),
    );
  });
}

Deno.test("property 31: parseRecommendationReport() reads back what was written, unchanged", () => {
  const head = {
    apiVersion: "optipod.io/v1alpha1",
    kind: "RecommendationReport",
    metadata: { name: "recommendations-1", namespace: "shop", uid: "u", resourceVersion: "1" },
  };
  fc.assert(
    fc.property(workloadRecords("shop"), (records) => {
      for (const { workloads } of reportParts(records)) {
        const stored = JSON.parse(JSON.stringify({ ...head, workloads }));
        const report = parseRecommendationReport(stored);
        assert.deepEqual(report, stored);
        // Parts made of the parsed report have the same text: reading and writing change nothing.
        const again = reportParts(recordsOf([report], "shop")).map((part) => part.workloads);
        assert.deepEqual(JSON.parse(JSON.stringify(again.flat())), stored.workloads);
      }
    }),
  );
});

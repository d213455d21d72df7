import assert from "node:assert/strict";
import { Registry } from "prom-client";
import { ApiError } from "../../shared/api/api_error.ts";
import type { HorizontalPodAutoscaler } from "../../shared/api/autoscalers.ts";
import type { LimitRange, ResourceQuota } from "../../shared/api/namespace.ts";
import type { Node } from "../../shared/api/node.ts";
import type { Pod } from "../../shared/api/pod.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import type { ReplicaSet, WorkloadKind } from "../../shared/api/workload.ts";
import { createPermits } from "../../shared/control/permits.ts";
import { silentLog } from "../../shared/log.ts";
import type { WorkloadEvent } from "../../shared/rightsizing/guards/workload_events.ts";
import { fixedCache } from "../../tests/fixtures/caches.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { recordedAppliers } from "../../tests/fixtures/rightsizing/recorded_ports.ts";
import {
  autoPolicy,
  MI,
  NOW_MS,
  rightsizingSnapshot,
  templateContainer,
  workloadPod,
} from "../../tests/fixtures/rightsizing/rightsizing_snapshot.ts";
import {
  reconciledAs,
  recordOf,
  storedPolicy,
  workloadNamed,
} from "../../tests/fixtures/rightsizing/workload_records.ts";
import { sampleHPA, sampleVPA } from "../../tests/fixtures/sample_workloads.ts";
import { ClusterSnapshots } from "./cluster_snapshots.ts";
import { CorrectionMemory } from "./corrections.ts";
import { emitCycleEvents, policySubject, workloadSubject, writeAnnotations } from "./events.ts";
import { createRightsizingMetrics, type EndedCycle } from "./metrics.ts";
import { createPermissionMemory, type PermissionScope } from "./refused_permissions.ts";
import type { ReconciledWorkload } from "./policies/policy_cycle.ts";
import type { RightsizingEvent } from "./ports.ts";

const KNOWN = {
  recommendations: [],
  samples: new Map<string, number>(),
  memoryPeaks: new Map<string, number>(),
  inForce: new Map<string, never>(),
};

const FORMER = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-5d9c", uid: "rs-former" };

function snapshotWith({ pods = [], originalLimit, autoscalers = [] }: {
  readonly pods?: readonly Pod[];
  readonly originalLimit?: string;
  readonly autoscalers?: readonly HorizontalPodAutoscaler[];
} = {}) {
  const metadata = { name: "", namespace: "shop", uid: "", resourceVersion: "" };
  const status = { originalLimits: [{ name: "app", cpu: originalLimit }] };
  const allocation = { metadata: { ...metadata, name: "uid-web-1" }, status };
  const odd = { metadata: { ...metadata, name: "r" }, items: [], unreadable: "no number" };
  const node: Node = {
    metadata: { name: "node-1", uid: "", resourceVersion: "" },
    allocatableCPU: 4000,
    ready: true,
    pressures: [],
  };
  const cluster = new ClusterSnapshots({
    caches: {
      pods: fixedCache(pods),
      replicaSets: fixedCache<ReplicaSet>([{
        metadata: { ...metadata, name: FORMER.name, uid: FORMER.uid },
        deployment: { name: "web", uid: "former" },
      }]),
      nodes: fixedCache([node]),
      allocations: fixedCache(originalLimit === undefined ? [] : [allocation as PodAllocation]),
      limitRanges: fixedCache<LimitRange>([odd]),
      resourceQuotas: fixedCache<ResourceQuota>(),
      horizontalPodAutoscalers: fixedCache(autoscalers),
      verticalPodAutoscalers: fixedCache([sampleVPA("Off", { unreadable: "no target" })]),
    },
    corrections: new CorrectionMemory(),
    dryRun: () => true,
    served: () => ({ resizeServed: true, lowersMemoryLimits: false }),
    missingPermissions: () => [],
  });
  const { workload } = rightsizingSnapshot();
  const one = (windowMs?: number) => ({
    workload,
    policy: autoPolicy({}, windowMs === undefined ? {} : { windowMs }),
    nowMs: NOW_MS,
    pods: cluster.podsOf(workload).pods,
  });
  return { cluster, workload, one, snapshot: () => cluster.snapshotOf(one(), KNOWN) };
}

const web = workloadPod("web-1", [templateContainer()]);

pure("podsOf() separates the workload's own pods, without those that end", () => {
  const { owner: _owner, ...lonely } = { ...web.metadata, name: "lonely" };
  const pods: Pod[] = [
    web,
    { ...web, metadata: lonely },
    // A pod of a ReplicaSet that was left over by a former Deployment of the name.
    { ...web, metadata: { ...web.metadata, name: "web-former", owner: FORMER } },
    { ...workloadPod("web-2", []), phase: "Succeeded" },
    { ...web, metadata: { ...web.metadata, name: "web-3", terminating: true } },
  ];
  const { cluster, workload } = snapshotWith({ pods });
  const { pods: own, otherPods: others } = cluster.podsOf(workload);
  const namesOf = (pods: readonly Pod[]) => pods.map(({ metadata }) => metadata.name);
  assert.deepEqual([namesOf(own), namesOf(others)], [["web-1"], ["lonely", "web-former"]]);
});

pure("factsOf() has nodes, autoscalers, and a sentence for each unreadable object", () => {
  const autoscalers = [sampleHPA(), sampleHPA({ target: { kind: "Deployment", name: "db" } })];
  const snapshot = snapshotWith({ pods: [web], autoscalers }).snapshot();
  assert.deepEqual([...snapshot.nodes.keys()], ["node-1"]);
  assert.equal(snapshot.largestNode?.allocatableCPU, 4000);
  assert.deepEqual([snapshot.autoscalers.length, snapshot.verticalAutoscalers.length], [1, 1]);
  assert.deepEqual(snapshot.unreadable, [
    "LimitRange r: no number",
    "VerticalPodAutoscaler web-vpa: no target",
  ]);
  const { dryRun, marketManages, lowersMemoryLimits } = snapshot;
  assert.deepEqual([dryRun, marketManages, lowersMemoryLimits], [true, false, false]);
});

pure("factsOf() has the user's original limit where the market has set another", () => {
  const snapshot = snapshotWith({ pods: [web], originalLimit: "700m" }).snapshot();
  assert.equal(snapshot.marketManages, true);
  assert.deepEqual(snapshot.pods[0]?.containers[0]?.limits, { cpu: 700, memory: 128 * MI });
});

pure("correctionsOf() has kills within the window, until the workload is deleted", () => {
  const pods = [workloadPod("web-1", [templateContainer({ oomKilledAtMs: NOW_MS - 1000 })])];
  const { cluster, one } = snapshotWith({ pods });
  const kills = (windowMs: number) => cluster.correctionsOf(one(windowMs)).get("app")?.oomKills;
  assert.equal(kills(1000), undefined);
  assert.deepEqual(kills(1001), [{ hadBytes: 128 * MI }]);
  pods.length = 0;
  assert.deepEqual(kills(1001), [{ hadBytes: 128 * MI }]);
  cluster.keepOnly((key) => key !== "Deployment/shop/web");
  assert.equal(kills(1001), undefined);
});

pure("missing() has refused permissions of the namespace and kind, by method, for 30 s", () => {
  const scope = (namespace: string, kind: WorkloadKind = "Deployment"): PermissionScope => ({
    kind,
    metadata: { namespace },
  });
  let nowMs = 0;
  const { refused, missing } = createPermissionMemory({ clock: { monotonic: () => nowMs } });
  assert.deepEqual(missing(scope("shop")), []);
  const [get, patch] = ["get", "patch"].map((verb) => `${verb} deployments.apps in namespace shop`);
  const resize = "patch pods/resize in namespace shop";
  const others = "patch podallocations.allocation.mbcas.io/status in namespace shop";
  for (const one of [resize, get, patch, others]) refused(scope("shop"), one ?? "");
  assert.deepEqual(missing(scope("shop")), [
    { method: "InPlace", permission: resize },
    { method: "Recreate", permission: patch },
  ]);
  assert.deepEqual(missing(scope("bank")), []);
  assert.deepEqual(missing(scope("shop", "DaemonSet")), []);
  nowMs = 20_000;
  refused(scope("shop"), patch ?? "");
  for (const [atMs, expected] of [[30_000, ["Recreate"]], [50_000, []]] as const) {
    nowMs = atMs;
    assert.deepEqual(missing(scope("shop")).map(({ method }) => method), expected);
  }
});

const record = recordOf("web");

pure("emitCycleEvents() emits an event a workload, and one a kind on the policy", () => {
  const emitted: RightsizingEvent[] = [];
  const skipped: WorkloadEvent = { type: "Normal", reason: "WorkloadSkipped", message: "why" };
  const failed: WorkloadEvent = { type: "Warning", reason: "UpdateFailed", message: "what" };
  emitCycleEvents(storedPolicy(), {
    reconciled: [
      reconciledAs("web", { events: [skipped] }),
      reconciledAs("db", { events: [skipped, failed] }),
      reconciledAs("job", { events: [skipped] }),
    ],
    events: { emit: (event) => void emitted.push(event) },
  });
  const of = (uid: string): string[] =>
    emitted.filter(({ about }) => about.uid === uid).map(({ message }) => message);
  assert.deepEqual([of("uid-web"), of("uid-db")], [["why"], ["why", "what"]]);
  assert.deepEqual(of("all"), [
    "Deployment shop/web (and 2 more): why",
    "Deployment shop/db: what",
  ]);
  assert.deepEqual(emitted[0]?.about, workloadSubject(workloadNamed("web")));
  assert.deepEqual(emitted.at(-1)?.about, policySubject(storedPolicy()));
});

pure("writeAnnotations() writes what differs, and removes those without value", async () => {
  const appliers = recordedAppliers();
  const parts = { workloads: appliers.workloads, permits: createPermits(() => 2), log: silentLog };
  await writeAnnotations([{ workload: workloadNamed("web"), record }], parts);
  const [first = ""] = appliers.asked;
  assert.match(first, /^annotate web .*"optipod\.io\/recommendation\.app\.cpu-request":"150m"/);
  const annotations = JSON.parse(first.slice("annotate web ".length));
  await writeAnnotations([{ workload: workloadNamed("web", annotations), record }], parts);
  assert.equal(appliers.asked.length, 1);
  await writeAnnotations(
    [{ workload: workloadNamed("web", annotations), record: undefined }],
    parts,
  );
  assert.match(appliers.asked[1] ?? "", /"optipod\.io\/managed":null/);
});

pure("writeAnnotations() goes on after a refusal, and logs it", async () => {
  const appliers = recordedAppliers();
  const emitted: unknown[] = [];
  const log = {
    ...silentLog,
    warn: (_message: string, fields = {}) => void emitted.push(Object.values(fields)[0]),
  };
  appliers.refusals.set("annotate web", new ApiError(403, "Forbidden", "no"));
  appliers.refusals.set("annotate db", new ApiError(404, "NotFound", "gone"));
  const updates = ["web", "db", "job"].map((name) => ({ workload: workloadNamed(name), record }));
  await writeAnnotations(updates, {
    workloads: appliers.workloads,
    permits: createPermits(() => 1),
    log,
  });
  assert.equal(appliers.asked.length, 3);
  assert.deepEqual(emitted, ["Deployment shop/web"]);
});

const ALL = { namespace: "shop", name: "all" };
const BATCH = { namespace: "shop", name: "batch" };

function stage() {
  const registry = new Registry();
  const metrics = createRightsizingMetrics(registry);
  /** Series of a policy, without its labels and prefix; buckets and times left out. */
  async function served({ name } = ALL): Promise<Readonly<Record<string, number>>> {
    const own = `namespace="shop",policy="${name}"`;
    const lines = (await registry.metrics()).split("\n")
      .filter((line) =>
        line.includes(own) && /^mbcas_/.test(line) && !/le=|_seconds_sum/.test(line)
      );
    return Object.fromEntries(lines.map((line) => {
      const [, series = "", value] = /^mbcas_rightsizing_(\S+) (\S+)$/.exec(line) ??
        assert.fail(line);
      return [series.replace(own, "").replace("{}", "").replace("{,", "{"), Number(value)];
    }));
  }
  const ended = (
    cycle: Partial<EndedCycle["outcome"]> & Pick<EndedCycle, "error">,
    policy = ALL,
  ): void => {
    const { error, ...outcome } = cycle;
    const whole = { matched: [], reconciled: [], aborted: false, ...outcome };
    metrics.cycleEnded(policy, { tookMs: 20, outcome: whole, ...(error && { error }) });
  };
  return { registry, metrics, served, ended };
}

const matchedBy = (all: readonly ReconciledWorkload[]) => all.map(({ outcome }) => outcome.record);
const missing = { status: "Skipped", reason: "MetricsMissing" } as const;
const failure = { next: "leave", reason: "RBACError", message: "no" } as const;
const skipped = { status: "Skipped", reason: "Cooldown" } as const;

Deno.test("property 25: createRightsizingMetrics() serves what the cycles came to, and nothing of a policy that is gone", async () => {
  const { metrics, served, ended } = stage();
  const first = [
    reconciledAs("applied", { record: { status: "Applied" }, applied: "InPlace" }),
    reconciledAs("recreated", { record: { status: "Applied" }, applied: "Recreate" }),
    reconciledAs("held", { record: skipped }),
    reconciledAs("blind", { record: missing, recommends: false }),
    reconciledAs("denied", { record: { status: "Error", reason: "RBACError" }, failure }),
    reconciledAs("odd", {
      record: { status: "Error", reason: "UnreadableTemplate" },
      recommends: false,
    }),
    reconciledAs("only", { record: { status: "Recommended", reason: "RecommendOnly" } }),
  ];
  const later = reconciledAs("later", { record: { status: "Skipped", reason: "OfALaterVersion" } });
  ended({ matched: matchedBy([...first, later]), reconciled: first });
  ended({ matched: matchedBy([later]) }, BATCH);
  const counted = {
    recommendations_total: 5,
    'applications_total{method="InPlace"}': 1,
    'applications_total{method="Recreate"}': 1,
    'reconciliation_errors_total{error_type="MetricsMissing"}': 1,
    'reconciliation_errors_total{error_type="RBACError"}': 1,
    'reconciliation_errors_total{error_type="UnreadableTemplate"}': 1,
    reconciliation_duration_seconds_count: 1,
  };
  const gauges = {
    workloads_monitored: 8,
    workloads_updated: 2,
    'workloads_skipped{reason="Cooldown"}': 1,
    'workloads_skipped{reason="MetricsMissing"}': 1,
    'workloads_skipped{reason="RBACError"}': 1,
    'workloads_skipped{reason="UnreadableTemplate"}': 1,
    'workloads_skipped{reason="OtherVersion"}': 1,
    record_unwritten: 0,
  };
  assert.deepEqual(await served(), { ...counted, ...gauges });
  // An aborted cycle has seen a part: gauges stay, and no time is observed.
  ended({ matched: matchedBy([later]), reconciled: first.slice(0, 1), aborted: true });
  counted.recommendations_total = 6;
  counted['applications_total{method="InPlace"}'] = 2;
  assert.deepEqual(await served(), { ...counted, ...gauges });
  ended({ matched: matchedBy([later]) });
  counted.reconciliation_duration_seconds_count = 2;
  const one = { workloads_monitored: 1, workloads_updated: 0, record_unwritten: 0 };
  const only = { ...one, 'workloads_skipped{reason="OtherVersion"}': 1 };
  assert.deepEqual(await served(), { ...counted, ...only });
  metrics.policyGone(ALL);
  assert.deepEqual(await served(), {});
  assert.deepEqual(await served(BATCH), {
    ...only,
    recommendations_total: 0,
    reconciliation_duration_seconds_count: 1,
  });
});

Deno.test("createRightsizingMetrics() counts policies that can't be followed, and cycles that failed", async () => {
  const { metrics, served, ended } = stage();
  const problem = { reason: "ValidationFailed", message: "spec.mode" } as const;
  const unwritten = { reason: "RecordNotWritten", message: "no" } as const;
  const down = { reason: "ProviderUnavailable", message: "no" } as const;
  ended({ problem });
  ended({ unwritten, aborted: true });
  ended({ unwritten });
  assert.equal((await served())["record_unwritten"], 1);
  // Counted by its workloads.
  const [blind] = [reconciledAs("blind", { record: missing })];
  ended({ problem: down, reconciled: [blind], matched: matchedBy([blind]) });
  ended({ error: "StatusNotWritten" });
  metrics.cycleEnded(ALL, { tookMs: 1, error: "CycleFailed" });
  const found = Object.entries(await served())
    .flatMap(([series, value]) => value === 1 ? /error_type="(\w+)"/.exec(series)?.[1] ?? [] : []);
  assert.deepEqual(found.toSorted(), [
    ...["CycleFailed", "MetricsMissing", "RecordNotWritten", "StatusNotWritten"],
    "ValidationFailed",
  ]);
  // A failed cycle says nothing about workloads: what was known stays.
  assert.equal((await served())["workloads_monitored"], 0);
});

Deno.test("createRightsizingMetrics() observes sources in seconds, and counts templates that were applied", async () => {
  const { metrics, registry } = stage();
  for (const tookMs of [40, 2000]) metrics.collected("prometheus", tookMs);
  for (const outcome of ["accepted", "accepted", "conflict"]) {
    metrics.templatePatched({ kind: "Deployment", outcome });
  }
  // Neither is a policy's.
  metrics.policyGone(ALL);
  const text = await registry.metrics();
  const rows = [
    'optipod_metrics_collection_duration_seconds_sum{provider="prometheus"} 2.04',
    'optipod_metrics_collection_duration_seconds_bucket{le="0.025",provider="prometheus"} 0',
    'optipod_metrics_collection_duration_seconds_bucket{le="0.05",provider="prometheus"} 1',
    'optipod_ssa_patch_total{kind="Deployment",outcome="accepted"} 2',
    'optipod_ssa_patch_total{kind="Deployment",outcome="conflict"} 1',
  ];
  for (const line of rows) assert.ok(text.includes(`${line}\n`), line);
});

/**
 * Plays a plan: users work, faults come, then all is quiet, and in the end the market is switched off.
 *
 * @module
 */
import type { Pod } from "../../shared/api/pod.ts";
import { objectKey } from "../../shared/control/object_key.ts";
import { LOADED_PODS } from "./cluster_load.ts";
import { NODE_CORES } from "./cluster_node.ts";
import { type FaultPlan, FAULTS_END_MS, PROCESSES } from "./fault.ts";
import { type FaultCluster, startFaultCluster } from "./fault_cluster.ts";
import type { RecordedEvent } from "./derive_plans.ts";
import type { NumberedRequest } from "./fault_schedule.ts";
import { BURST_FACTOR, type Violation, watchInvariants } from "./invariants.ts";
import { PLACED, readyOnDemand } from "./placed_workload.ts";
import { changePolicy, RECOMMENDED, RIGHTSIZED } from "./rightsized_workload.ts";
import { scheduleFaults } from "./timed_faults.ts";

/** What became of a plan. */
export interface PlanOutcome {
  readonly violations: readonly Violation[];
  /** Empty unless they were recorded. */
  readonly requests: readonly NumberedRequest[];
  readonly events: readonly RecordedEvent[];
}

/** Steady within a minute after the last fault, then silent for another one. */
const QUIET_MS = 60_000;
/** Without faults users' intentions are met within this time. */
const SOON_MS = 15_000;
/** Changes of a pod in the last minute, where limits follow demand. */
const MOST_TIGHT_CHANGES = 4;
/** The ceiling of every limit: 90 % of the node. */
const NODE_CEILING = 0.9 * 1000 * NODE_CORES;

/** What users do in each run, faults or not. */
const SCRIPT: readonly (readonly [number, (cluster: FaultCluster) => void])[] = [
  [30_000, (cluster) => cluster.optOut("shop", true)],
  [45_000, (cluster) => cluster.optOut("shop", false)],
  [
    60_000,
    (cluster) => cluster.apply({ fault: "editLimit", atMs: 0, pod: "batch/job-0", limit: 450 }),
  ],
  [65_000, ({ api }) => changePolicy(api)],
  [75_000, (cluster) => cluster.switchMarket(false)],
  [85_000, (cluster) => cluster.switchMarket(true)],
  [95_000, (cluster) => cluster.apply({ fault: "rebirth", atMs: 0, pod: "shop/db-0" })],
];

/** Plays the plan to its end. */
export async function playPlan(
  plan: FaultPlan,
  options: { readonly record?: boolean } = {},
): Promise<PlanOutcome> {
  const cluster = startFaultCluster(plan, options);
  const { clock, processes, schedule } = cluster;
  const violations = watchInvariants(cluster);
  scheduleFaults(cluster, plan.faults);
  for (const [atMs, act] of SCRIPT) clock.at(atMs, () => act(cluster));
  await clock.runUntil(FAULTS_END_MS + QUIET_MS);
  const before = changeCounts(cluster);
  await clock.runUntil(FAULTS_END_MS + 2 * QUIET_MS);
  const late: Violation[] = checkQuiet(cluster, { plan, before });
  late.push(...await playEnd(cluster, plan));
  for (const message of processes.failures) {
    late.push({ invariant: "Failed", atMs: clock.monotonic(), message });
  }
  for (const name of PROCESSES) processes.get(name)?.process.kill();
  const { record = false } = options;
  return {
    violations: [...violations, ...late],
    requests: schedule.requests,
    events: record ? recordedEvents(cluster) : [],
  };
}

/** Without faults each intention of a user is met soon: opt-out, a new pod, opt-in, market off. */
async function playEnd(cluster: FaultCluster, plan: FaultPlan): Promise<Violation[]> {
  const { clock } = cluster;
  const found: Violation[] = [];
  const isFree = plan.idleCPU === "free";
  cluster.optOut("shop", true);
  cluster.apply({ fault: "rebirth", atMs: 0, pod: "batch/job-0" });
  await clock.runUntil(clock.monotonic() + SOON_MS);
  found.push(...checkRestored(cluster, ({ metadata }) => metadata.namespace === "shop"));
  if (isFree) found.push(...checkCeilings(cluster, ({ metadata }) => metadata.name === "job-0"));
  cluster.optOut("shop", false);
  await clock.runUntil(clock.monotonic() + SOON_MS);
  if (isFree) {
    found.push(...checkCeilings(cluster, ({ metadata }) => metadata.namespace === "shop"));
  }
  cluster.switchMarket(false);
  await clock.runUntil(clock.monotonic() + SOON_MS);
  found.push(...checkRestored(cluster, () => true));
  return found;
}

type Chosen = (pod: Pod) => boolean;

/** While CPU is free every limit is at its ceiling. */
function checkCeilings({ api, users, clock }: FaultCluster, chosen: Chosen): Violation[] {
  return marketPods(api).filter(chosen).flatMap(({ metadata, containers }) =>
    containers.flatMap(({ name, limitCPU }): Violation[] => {
      const own = users.limitOf(metadata.uid, name) ?? 0;
      const ceiling = Math.min(own * BURST_FACTOR, NODE_CEILING);
      if (limitCPU === ceiling || users.isLost(metadata.uid)) return [];
      const message = `${objectKey(metadata)}: ${limitCPU}m instead of ${ceiling}m`;
      return [{ invariant: "NotAtCeiling", atMs: clock.monotonic(), message }];
    })
  );
}

/** All but those of placement, which has no part in the market. */
function marketPods({ store }: FaultCluster["api"]): readonly Pod[] {
  return store.tables.Pod.all().filter(({ metadata }) => metadata.namespace !== PLACED.namespace);
}

/** Writes of limits and of desired limits so far, by pod UID. */
function changeCounts({ api }: FaultCluster): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { metadata } of api.store.tables.Pod.all()) {
    counts.set(metadata.uid, metadata.generation ?? 0);
  }
  return counts;
}

/** Where CPU is free every limit is at its ceiling and stays there; `tight` follows demand. */
function checkQuiet(
  cluster: FaultCluster,
  { plan, before }: { readonly plan: FaultPlan; readonly before: ReadonlyMap<string, number> },
): Violation[] {
  const { api, users, clock } = cluster;
  const found: Violation[] = [];
  const violate = (invariant: string, message: string): void =>
    void found.push({ invariant, message, atMs: clock.monotonic() });
  for (const { metadata, containers } of marketPods(api)) {
    const { uid, namespace } = metadata;
    const name = objectKey(metadata);
    const changes = (metadata.generation ?? 0) - (before.get(uid) ?? 0);
    const most = plan.idleCPU === "free" ? 0 : MOST_TIGHT_CHANGES;
    if (changes > most) violate("NotSteady", `${name} changed ${changes} times in the last minute`);
    if (namespace === RIGHTSIZED.namespace && containers[0]?.requestCPU !== RECOMMENDED.after) {
      violate("WrongRequest", `${name}: ${containers[0]?.requestCPU}m, not ${RECOMMENDED.after}m`);
    }
    for (const container of containers) {
      const limit = container.limitCPU ?? 0;
      const own = users.limitOf(uid, container.name) ?? 0;
      const ceiling = namespace === "lab" ? own : Math.min(own * BURST_FACTOR, NODE_CEILING);
      if (users.isLost(uid)) continue;
      const least = plan.idleCPU === "free" ? ceiling : Math.min(own, container.requestCPU ?? 0);
      if (limit < least || limit > ceiling) {
        violate("WrongLimit", `${name}: ${limit}m instead of ${least}m to ${ceiling}m`);
      }
    }
  }
  const onDemand = readyOnDemand(api);
  if (onDemand !== PLACED.onDemand) {
    violate("WrongSplit", `${onDemand} of ${PLACED.replicas} are on on-demand nodes`);
  }
  return found;
}

/** Outside of the market every limit is the user's, or its loss is reported. */
function checkRestored({ api, users, clock }: FaultCluster, chosen: Chosen): Violation[] {
  const { PodAllocation: records } = api.store.tables;
  const found: Violation[] = [];
  for (const { metadata, containers } of marketPods(api).filter(chosen)) {
    const { uid, namespace } = metadata;
    const { reason = "no record" } = records.get(`${namespace}/${uid}`)?.status ?? {};
    for (const { name, limitCPU, appliedLimitCPU } of containers) {
      const own = users.limitOf(uid, name);
      if (limitCPU === own && appliedLimitCPU === own) continue;
      const template = LOADED_PODS.find((pod) => pod.name === metadata.name && pod.replicaSet)
        ?.limit;
      const isReported = template === undefined
        ? reason === "OriginalUnknown"
        : limitCPU === template;
      if (users.isLost(uid) && isReported) continue;
      found.push({
        invariant: "NotRestored",
        atMs: clock.monotonic(),
        message: `${objectKey(metadata)}: ${limitCPU}m (applied ${appliedLimitCPU}m) instead of ` +
          `${own}m, ${reason}`,
      });
    }
  }
  return found;
}

/** What changed in the run, in the order of time. */
function recordedEvents({ api }: FaultCluster): RecordedEvent[] {
  const events: RecordedEvent[] = [];
  for (const object of ["Pod", "PodAllocation", "Namespace", "ConfigMap", "Lease"] as const) {
    const { log } = api.store.tables[object];
    for (let position = log.after(0), entry = log.at(position); entry; entry = log.at(++position)) {
      events.push({ object, atMs: entry.atMs });
    }
  }
  return events.sort((a, b) => a.atMs - b.atMs);
}

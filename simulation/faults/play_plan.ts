/**
 * Plays a plan: users work, faults come, then all is quiet, and in the end the market is switched off.
 *
 * @module
 */
import { objectKey } from "../../shared/control/object_key.ts";
import { PROCESSES, type FaultPlan } from "./fault.ts";
import { type FaultCluster, startFaultCluster } from "./fault_cluster.ts";
import type { NumberedRequest } from "./fault_schedule.ts";
import { type Violation, watchInvariants } from "./invariants.ts";
import { scheduleFaults } from "./timed_faults.ts";

/** What became of a plan. */
export interface PlanOutcome {
  readonly violations: readonly Violation[];
  /** Limits at the end of the quiet stretch, millicores by pod. */
  readonly limits: ReadonlyMap<string, number>;
  /** Writes of limits in the last minute of the quiet stretch. */
  readonly lateWrites: number;
  /** Where they were recorded. */
  readonly requests: readonly NumberedRequest[];
}

/** Faults come before this; users rest from then on. */
export const FAULTS_END_MS = 120_000;
/** Steady within a minute after the last fault, then silent for another one. */
const QUIET_MS = 60_000;
/** The market is off for this long before the limits are compared with the users'. */
const RESTORED_MS = 45_000;

/** What users do in each run, faults or not. */
const SCRIPT: readonly (readonly [number, (cluster: FaultCluster) => void])[] = [
  [30_000, (cluster) => cluster.optOut("shop", true)],
  [45_000, (cluster) => cluster.optOut("shop", false)],
  [60_000, (cluster) => cluster.apply({ fault: "editLimit", atMs: 0, pod: "batch/job-0", limit: 450 })],
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
  const { clock, api, users, processes, schedule } = cluster;
  const violations = watchInvariants(cluster);
  scheduleFaults(cluster, plan.faults);
  for (const [atMs, act] of SCRIPT) clock.at(atMs, () => act(cluster));
  await clock.runUntil(FAULTS_END_MS + QUIET_MS);
  const before = limitWrites(cluster);
  await clock.runUntil(FAULTS_END_MS + 2 * QUIET_MS);
  const lateWrites = limitWrites(cluster) - before;
  const { Pod: pods, PodAllocation: records } = api.store.tables;
  const limits = new Map(
    pods.all().map(({ metadata, containers }) => [
      objectKey(metadata),
      containers[0]?.limitCPU ?? 0,
    ]),
  );
  cluster.switchMarket(false);
  await clock.runUntil(FAULTS_END_MS + 2 * QUIET_MS + RESTORED_MS);
  const late: Violation[] = [];
  const violate = (invariant: string, message: string): void =>
    void late.push({ invariant, message, atMs: clock.monotonic() });
  for (const { metadata, containers } of pods.all()) {
    const { uid, namespace } = metadata;
    for (const { name, limitCPU, appliedLimitCPU } of containers) {
      const own = users.limitOf(uid, name);
      if (limitCPU === own && appliedLimitCPU === own) continue;
      const { reason } = records.get(`${namespace}/${uid}`)?.status ?? {};
      const reported = reason === "OriginalUnknown" && users.isLost(uid);
      if (!reported) {
        violate(
          "NotRestored",
          `${objectKey(metadata)}: ${limitCPU}m (applied ${appliedLimitCPU}m) instead of ${own}m, ` +
            `${reason ?? "no record"}`,
        );
      }
    }
  }
  for (const failure of processes.failures) violate("Failed", failure);
  for (const name of PROCESSES) processes.get(name)?.process.kill();
  return {
    violations: [...violations, ...late],
    limits,
    lateWrites,
    requests: schedule.requests,
  };
}

/** Resizes and changes of desired limits so far. */
function limitWrites({ api }: FaultCluster): number {
  return (api.requests.get("resize Pod") ?? 0) + (api.requests.get("patch PodAllocation") ?? 0);
}

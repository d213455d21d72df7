/**
 * Plays a plan: users work, faults come, then all is quiet, and in the end the market is switched off.
 *
 * @module
 */
import type { RecordedEvent } from "./draw_plan.ts";
import { type FaultPlan, FAULTS_END_MS, type NumberedRequest, PROCESSES } from "./fault.ts";
import { type FaultCluster, startFaultCluster } from "./cluster/fault_cluster.ts";
import { checkCeilings, checkQuiet, checkRestored, writeCounts } from "./final_state.ts";
import { type Violation, watchInvariants } from "./invariants.ts";
import { OPTED_OUT, scheduleFaults, scheduleUsers } from "./disturbances.ts";

/** The result of a plan. */
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
/** Versions have another digit from soon after this one on. */
const LAST_OF_FIVE_DIGITS = 99_990;

/** Plays the plan to its end. */
export async function playPlan(
  plan: FaultPlan,
  options: { readonly record?: boolean } = {},
): Promise<PlanOutcome> {
  const cluster = startFaultCluster(plan, options);
  const { clock, processes, schedule } = cluster;
  const violations = watchInvariants(cluster);
  scheduleFaults(cluster, plan.faults);
  const early = scheduleUsers(cluster, plan);
  await clock.runUntil(FAULTS_END_MS + QUIET_MS);
  const before = writeCounts(cluster);
  await clock.runUntil(FAULTS_END_MS + 2 * QUIET_MS);
  const isFree = plan.idleCPU === "free";
  const late = checkQuiet(cluster, { isFree, optedOut: OPTED_OUT, before });
  late.push(...await playEnd(cluster, { isFree }));
  for (const message of processes.failures) {
    late.push({ invariant: "Failed", atMs: clock.monotonic(), message });
  }
  for (const name of PROCESSES) processes.get(name)?.process.kill();
  const { record = false } = options;
  return {
    violations: [...violations, ...early, ...late].sort((a, b) => a.atMs - b.atMs),
    requests: schedule.requests,
    events: record ? recordedEvents(cluster) : [],
  };
}

/** Without faults each intention of a user is met soon: opt-out, a new pod, opt-in, market off. */
async function playEnd(
  cluster: FaultCluster,
  { isFree }: { readonly isFree: boolean },
): Promise<Violation[]> {
  const { clock, api } = cluster;
  const found: Violation[] = [];
  api.store.skipTo(LAST_OF_FIVE_DIGITS);
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
  cluster.switchMarket(false, "  burstFactor: none\n");
  await clock.runUntil(clock.monotonic() + SOON_MS);
  found.push(...checkRestored(cluster, () => true));
  return found;
}

/** Changes of objects in the run, in the order of time. */
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

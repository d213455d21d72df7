/**
 * What users do in each run, faults or not, and by when that takes effect where no fault is felt.
 *
 * @module
 */
import { type Disturbance, disturbance } from "./disturbances.ts";
import type { FaultPlan } from "./fault.ts";
import type { FaultCluster } from "./cluster/fault_cluster.ts";
import { checkCeilings, checkRecords, checkRestored, type Chosen } from "./final_state.ts";
import type { Violation } from "./invariants.ts";
import { changePolicy } from "./cluster/rightsized_workload.ts";

/** Namespaces that have opted out at the end of the script. */
export const OPTED_OUT: ReadonlySet<string> = new Set(["lab", "guest"]);

/** A time, ms, and what a user does then. */
type Deed = readonly [number, (cluster: FaultCluster) => void];

const SCRIPT: readonly Deed[] = [
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
  [100_000, (cluster) => cluster.optOut("guest", true)],
];

const all: Chosen = () => true;
const managed: Chosen = ({ metadata: { namespace } }) => namespace !== "lab";
const of = (one: string): Chosen => ({ metadata: { namespace } }) => namespace === one;

/** A time by which limits are restored, or raised, where no fault is felt. */
type Deadline = readonly [number, "restore" | "raise", Chosen];

const DEADLINES: readonly Deadline[] = [
  [44_900, "restore", of("shop")],
  [59_900, "raise", managed],
  [74_900, "raise", managed],
  [84_900, "restore", all],
  [94_900, "raise", managed],
  [114_900, "restore", of("guest")],
  [118_000, "raise", ({ metadata: { namespace } }) => !OPTED_OUT.has(namespace)],
];

/** Sets a timer for each deed and deadline; returns the violations so far. */
export function scheduleUsers(cluster: FaultCluster, plan: FaultPlan): readonly Violation[] {
  const { clock } = cluster;
  const found: Violation[] = [];
  for (const [atMs, act] of SCRIPT) clock.at(atMs, () => act(cluster));
  for (const [atMs, change, chosen] of DEADLINES) {
    clock.at(atMs, () => {
      if (isFelt(disturbance(cluster), change, atMs)) return;
      if (change === "restore") found.push(...checkRestored(cluster, chosen));
      else found.push(...checkRaised(cluster, { chosen, isFree: plan.idleCPU === "free" }));
    });
  }
  return found;
}

function isFelt(
  { restoreMs, raiseMs }: Disturbance,
  change: "restore" | "raise",
  atMs: number,
): boolean {
  return (change === "restore" ? restoreMs : raiseMs) > atMs;
}

/** CPU is free on node-2 alone all the time. */
function checkRaised(
  cluster: FaultCluster,
  { chosen, isFree }: { readonly chosen: Chosen; readonly isFree: boolean },
): readonly Violation[] {
  const isRoomy: Chosen = (pod) =>
    chosen(pod) && pod.nodeName === "node-2" && pod.metadata.namespace !== "batch";
  const ceilings = isFree ? checkCeilings(cluster, isRoomy) : [];
  return [...checkRecords(cluster, chosen), ...ceilings];
}

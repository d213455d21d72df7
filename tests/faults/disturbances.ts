/**
 * Disturbances of a cluster while a plan is played: accidents of programs and objects, timed faults,
 * and users' changes.
 *
 * @module
 */
import {
  CORRUPTIONS,
  type Fault,
  type FaultPlan,
  PROCESSES,
  type ProcessName,
  type TimedFault,
} from "./fault.ts";
import type { FaultCluster } from "./cluster/fault_cluster.ts";
import type { KindName } from "../../lab/simulation/api/kinds.ts";
import { changePolicy, LOADED_PODS, type LoadedPod } from "./cluster/cluster_load.ts";
import { checkCeilings, checkRecords, checkRestored, type Chosen } from "./final_state.ts";
import type { Violation } from "./invariants.ts";

/** Until when limits may come back late, and until when they may rise late; monotonic ms. */
export interface Disturbance {
  readonly restoreMs: number;
  readonly raiseMs: number;
}

/** Time until an interrupted watch or a loop that failed once goes on, ms. */
const RESUMED_MS = 6000;
/** Until a copy is listed again after failures, ms: the longest back-off and a little. */
const LISTED_MS = 35_000;
/** Until another controller leads, ms. */
const LED_MS = 25_000;
/** Until agents have answered the bounds of another controller that leads, ms. */
const ANSWERED_MS = LED_MS + 5000;
const AGENT_MS = 20_000;
/** Faults that break watches. Those within this time, ms, of another make lists wait longer. */
const BREAKS: ReadonlySet<Fault["fault"]> = new Set(["compact", "travel", "freeze", "outage"]);
const REPEATED_MS = 15_000;

/** How long the faults of the plan that have begun are felt. */
export function disturbance(
  { clock, processes, schedule, faults }: FaultCluster,
): Disturbance {
  const now = clock.monotonic();
  let restoreMs = schedule.disturbedUntilMs;
  let raiseMs = schedule.disturbedUntilMs;
  function lasts(until: number, raisesUntil = until): void {
    restoreMs = Math.max(restoreMs, until);
    raiseMs = Math.max(raiseMs, raisesUntil);
  }
  for (const name of PROCESSES) {
    const { process, startedMs = 0 } = processes.get(name) ?? {};
    const from = process?.alive === true ? startedMs : Infinity;
    if (from === 0) continue;
    if (name.startsWith("controller")) lasts(from + LED_MS, from + ANSWERED_MS);
    else lasts(from + AGENT_MS);
  }
  for (const fault of faults) {
    if (!("atMs" in fault) || fault.atMs > now) continue;
    const endMs = fault.atMs + ("ms" in fault ? fault.ms : 0);
    switch (fault.fault) {
      case "listFailure":
        lasts(endMs + LISTED_MS);
        break;
      case "clockJump":
        lasts(fault.atMs + RESUMED_MS, fault.atMs + ANSWERED_MS);
        break;
      case "pause":
      case "outage":
        lasts(endMs + LED_MS, endMs + ANSWERED_MS);
        break;
      case "refuse":
        // The back-off may be as long as the refusals lasted, the market's off switch forgets them.
        lasts(endMs + fault.ms + RESUMED_MS);
        break;
      case "optOut":
        lasts(Infinity);
        break;
      case "kill":
        break;
      case "compact":
      case "travel":
      case "freeze":
        lasts(endMs + (isRepeated(fault, faults) ? LISTED_MS : RESUMED_MS));
        break;
      default:
        lasts(endMs + RESUMED_MS);
    }
  }
  return { restoreMs, raiseMs };
}

/** Copies that broke a moment ago are listed again later each time. */
function isRepeated(fault: { readonly atMs: number }, faults: readonly Fault[]): boolean {
  return faults.some((one) =>
    one !== fault && BREAKS.has(one.fault) && "atMs" in one && one.atMs <= fault.atMs &&
    fault.atMs - one.atMs < REPEATED_MS
  );
}

/** The controller that leads in the reference run, and the other one. */
export interface Controllers {
  readonly leader: ProcessName;
  readonly standby: ProcessName;
}

const HOUR_MS = 3_600_000;
const MISSED_MS = 3000;
const WATCHED: readonly KindName[] = ["Pod", "PodAllocation", "Namespace", "Node", "ConfigMap"];
/** Before, between and after what users do, ms; the last one right before the guest opts out. */
const TIMES_MS = [22_000, 50_000, 98_000] as const;
const LAST_MS = 98_000;

const kill = (process: ProcessName, atMs: number, ms: number): Fault => ({
  ...{ fault: "kill", process, atMs, ms },
});

/** All of them, each with the faults of one plan. */
export function accidents(controllers: Controllers): Fault[][] {
  const pods = LOADED_PODS.filter(({ namespace }) => namespace !== "lab");
  return [
    ...ofLeases(controllers),
    ...ofClocks(),
    ...ofLists(controllers),
    behind(controllers),
    ...ofAdmission(controllers),
    ...ofLeaders(controllers),
    ...pods.flatMap((pod) => ofPod(pod, controllers)),
  ];
}

/** The leader can't renew its Lease, nor read it. */
function ofLeases({ leader }: Controllers): Fault[][] {
  const lease = { process: leader, object: "Lease", status: 0, done: false, times: 20 } as const;
  return [4, 12, 22, 32, 42].map((nth) => [
    { fault: "answer", ...lease, verb: "update", nth },
    // Reads come only after a renewal that failed, but for the first.
    { fault: "answer", ...lease, verb: "get", nth: 2 },
  ]);
}

function ofClocks(): Fault[][] {
  return PROCESSES.flatMap((process) =>
    [-HOUR_MS, HOUR_MS].flatMap((ms) =>
      TIMES_MS.map((atMs): Fault[] => [{ fault: "clockJump", process, atMs, ms }])
    )
  );
}

function ofLists({ leader, standby }: Controllers): Fault[][] {
  return WATCHED.flatMap((object) => {
    const failure = (process: ProcessName, atMs: number): Fault => ({
      ...{ fault: "listFailure", process, object, atMs, ms: 10_000 },
    });
    // At the start it is open which of them will lead.
    const first = [failure(leader, 0), failure(standby, 0)];
    return [first, ...TIMES_MS.map((atMs): Fault[] => [failure(leader, atMs)])];
  });
}

/** An API server that is behind answers the lists of both controllers, soon after a node is scarce. */
function behind({ leader, standby }: Controllers): Fault[] {
  const travel = { fault: "travel", object: "PodAllocation", atMs: 28_000, ms: 1500 } as const;
  return [leader, standby].map((process) => ({ ...travel, process, ageMs: 10_000 }));
}

/** Writes that are refused, or put off for a day. */
function ofAdmission({ leader }: Controllers): Fault[][] {
  const refused = { fault: "refuse", atMs: 84_000, ms: 10_900, pod: "shop/db-0" } as const;
  // The next pod of this name is born right after, and its predecessor's end is not seen.
  const unseen: Fault = {
    ...{ fault: "freeze", process: leader, object: "Pod", end: "expired" },
    ...{ atMs: 94_500, ms: MISSED_MS },
  };
  const slow = { fault: "answer", status: 429, retryAfterMs: 24 * HOUR_MS, done: false } as const;
  const patch = { verb: "patch", object: "PodAllocation" } as const;
  const once = { nth: 4, times: 1 } as const;
  return [
    [{ ...refused, object: "Pod" }, unseen],
    [{ ...refused, object: "PodAllocation" }, unseen],
    [{ fault: "refuse", object: "Pod", atMs: 1000, ms: 9000, pod: "batch/job-0" }],
    [{ ...slow, process: leader, verb: "resize", object: "Pod", ...once }],
    [{ ...slow, process: "agent-1", ...patch, ...once }],
    [{ ...slow, process: "agent-2", ...patch, ...once }],
  ];
}

/** No controller runs, or another one leads. */
function ofLeaders({ leader, standby }: Controllers): Fault[][] {
  return [
    // It can't read the settings before they have changed twice.
    [
      { fault: "listFailure", process: standby, object: "ConfigMap", atMs: 56_000, ms: 40_000 },
      kill(standby, 56_500, 100),
      kill(leader, 62_000, 30_000),
    ],
    // An agent wants other limits meanwhile, and is gone when a controller runs again.
    [
      kill(leader, 50_000, 40_000),
      kill(standby, 50_000, 40_000),
      kill("agent-1", 58_000, 70_000),
      kill("agent-2", 58_000, 70_000),
    ],
  ];
}

/** Faults of a pod's record, alone and while nothing sees them. */
function ofPod(
  { namespace, name, replicaSet }: LoadedPod,
  { leader, standby }: Controllers,
): Fault[][] {
  const pod = `${namespace}/${name}`;
  return TIMES_MS.flatMap((atMs): Fault[][] => {
    const gone: Fault = { fault: "deleteRecord", atMs: atMs + 1000, pod };
    const missed = { fault: "freeze", process: leader, atMs, ms: MISSED_MS } as const;
    const optsOut = namespace === "guest" && atMs === LAST_MS;
    return [
      [gone],
      // The template of an owner would know them.
      ...(replicaSet === undefined
        ? [[{ fault: "forgetOriginals", atMs, pod } as const, gone]]
        : []),
      [{ ...missed, object: "PodAllocation", end: "expired" }, gone],
      [
        { ...missed, object: "Pod", end: "resume" },
        { fault: "editLimit", atMs: atMs + 500, pod, limit: 350 },
      ],
      ...(optsOut ? [[kill(leader, atMs, 6000), kill(standby, atMs, 6000), gone]] : []),
      ...CORRUPTIONS.map((field): Fault[] => [{ fault: "corrupt", atMs, pod, field }]),
    ];
  });
}

/** Sets a timer for each fault with a time. */
export function scheduleFaults(cluster: FaultCluster, faults: readonly Fault[]): void {
  for (const fault of faults) {
    if ("atMs" in fault) cluster.clock.at(fault.atMs, () => happen(cluster, fault));
  }
}

function happen(cluster: FaultCluster, fault: TimedFault): void {
  const { api, clock, processes } = cluster;
  const later = (action: () => void, ms: number): void =>
    void clock.at(clock.monotonic() + ms, action);
  switch (fault.fault) {
    case "kill":
      return processes.kill(fault.process, fault.ms);
    case "pause":
      return processes.get(fault.process)?.process.pause(fault.ms);
    case "clockJump":
      return processes.get(fault.process)?.process.jumpClock(fault.ms);
    case "listFailure":
    case "travel":
      return processes.get(fault.process)?.client.breakWatches(fault.object);
    case "outage":
      api.stop();
      return later(api.start, fault.ms);
    case "compact":
      api.compact();
      return api.closeWatches();
    case "closeWatches":
      return api.closeWatches();
    case "optOut":
      cluster.optOut(fault.namespace, true);
      return later(() => cluster.optOut(fault.namespace, false), fault.ms);
    case "freeze":
    case "duplicate":
    case "refuse":
      return;
    default:
      return cluster.apply(fault);
  }
}

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

/**
 * Faults at times that no event of a run suggests, alone and in the combinations that hurt.
 *
 * @module
 */
import type { KindName } from "../../lab/simulation/api/kinds.ts";
import { LOADED_PODS, type LoadedPod } from "./cluster/cluster_load.ts";
import { CORRUPTIONS, type Fault, PROCESSES, type ProcessName } from "./fault.ts";

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

/** What happens to the record of a pod, alone and while nothing sees it. */
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

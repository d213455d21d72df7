/**
 * Plans that are derived from a reference run: a crash after each write, a failure of each write, an
 * omission of each event, a travel back in time at each event, and accidents of each pod's record. Source: Sun et al., "Automatic reliability testing for cluster
 * management controllers" (Sieve), OSDI 2022.
 *
 * @module
 */
import type { Verb } from "../../simulation/api/request_gate.ts";
import type { KindName } from "../../simulation/api/stored_kind.ts";
import { LOADED_PODS, type LoadedPod } from "./cluster_load.ts";
import { CORRUPTIONS, type Fault, type FaultPlan, PROCESSES, type ProcessName } from "./fault.ts";
import type { NumberedRequest } from "./fault_schedule.ts";

/** An event of the reference run: what changed, and when. */
export interface RecordedEvent {
  readonly object: KindName;
  readonly atMs: number;
}

/** A run without faults. */
export interface ReferenceRun {
  readonly plan: FaultPlan;
  readonly requests: readonly NumberedRequest[];
  readonly events: readonly RecordedEvent[];
}

const READS: ReadonlySet<Verb> = new Set(["get", "list", "watch"]);
const DOWN_MS = 3000;
const OMISSION_MS = 3000;
const TRAVEL = { ms: 1500, ageMs: 5000 } as const;
/** Events that follow each other sooner are one to omit, ms. */
const APART_MS = 20;
const HOUR_MS = 3_600_000;
/** When faults come that have no event, ms. */
const TIMES_MS = [22_000, 50_000, 98_000] as const;
/** Derived faults come before the quiet stretch, ms. */
const UNTIL_MS = 118_000;

/** The controller that leads in the reference run, and the other one. */
interface Controllers {
  readonly leader: ProcessName;
  readonly standby: ProcessName;
}

function controllersOf(requests: readonly NumberedRequest[]): Controllers {
  const isA = requests.some(({ process, verb }) => process === "controller-a" && verb === "resize");
  return isA
    ? { leader: "controller-a", standby: "controller-b" }
    : { leader: "controller-b", standby: "controller-a" };
}

/** Which processes follow a kind; of the controllers the leader. */
function followersOf(object: KindName, { leader }: Controllers): readonly ProcessName[] {
  switch (object) {
    case "Pod":
      return [leader, "kubelet-1", "kubelet-2"];
    case "PodAllocation":
      return [leader, "agent-1", "agent-2"];
    default:
      return [leader];
  }
}

/** All plans of the run, each with one fault or two. */
export function derivePlans({ plan, requests, events }: ReferenceRun): FaultPlan[] {
  const controllers = controllersOf(requests);
  const faults = [
    ...ofWrites(requests),
    ...ofEvents(events, controllers),
    ...ofTimes(controllers),
    ...LOADED_PODS.filter(({ namespace }) => namespace !== "lab")
      .flatMap((pod) => ofPod(pod, controllers)),
  ];
  return faults.map((derived) => ({ ...plan, faults: derived }));
}

/** A crash after each write, and a write that fails once for each. */
function ofWrites(requests: readonly NumberedRequest[]): Fault[][] {
  return requests
    // The Lease of the leader is renewed each two seconds: each crash there is the same.
    .filter(({ verb, kind, nth, atMs }) =>
      !READS.has(verb) && atMs < UNTIL_MS && (kind !== "Lease" || nth <= 3)
    )
    .flatMap(({ process, verb, kind: object, nth }, index): Fault[][] => {
      const request = { process, verb, object, nth } as const;
      const crash: Fault = { fault: "crash", ...request, downMs: DOWN_MS };
      const status = index % 2 === 0 && process.startsWith("controller") ? 409 : 500;
      const answer: Fault = { fault: "answer", ...request, status, done: false, times: 1 };
      return process.startsWith("kubelet") ? [[crash]] : [[crash], [answer]];
    });
}

/** Faults at times that no event suggests. */
function ofTimes({ leader, standby }: Controllers): Fault[][] {
  const leases = [4, 12, 22, 32, 42].map((nth): Fault[] => {
    const lease = { process: leader, object: "Lease", status: 0, done: false } as const;
    // Reads come only after a renewal that failed, but for the first.
    return [
      { fault: "answer", ...lease, verb: "update", nth, times: 20 },
      { fault: "answer", ...lease, verb: "get", nth: 2, times: 20 },
    ];
  });
  const jumps = PROCESSES.flatMap((process) =>
    [-HOUR_MS, HOUR_MS].flatMap((ms) =>
      TIMES_MS.map((atMs): Fault[] => [{ fault: "clockJump", process, atMs, ms }])
    )
  );
  const lists = (["Pod", "PodAllocation", "Namespace", "Node", "ConfigMap"] as const).flatMap(
    (object) => {
      const failure = (process: ProcessName, atMs: number): Fault => ({
        ...{ fault: "listFailure", process, object, atMs, ms: 10_000 },
      });
      // At the start it is open which of them will lead.
      const first = [failure(leader, 0), failure(standby, 0)];
      return [first, ...TIMES_MS.map((atMs): Fault[] => [failure(leader, atMs)])];
    },
  );
  // Another controller leads, which can't read the settings before they have changed twice.
  const settings: Fault[] = [
    { fault: "listFailure", process: standby, object: "ConfigMap", atMs: 56_000, ms: 40_000 },
    { fault: "kill", process: standby, atMs: 56_500, ms: 100 },
    { fault: "kill", process: leader, atMs: 62_000, ms: 30_000 },
  ];
  // The next pod of this name is born right after, and its predecessor's end is not seen.
  const pods = { process: leader, object: "Pod", atMs: 94_500 } as const;
  const refusals = (["Pod", "PodAllocation"] as const).map((object): Fault[] => [
    { fault: "refuse", object, atMs: 84_000, ms: 10_900, pod: "shop/db-0" },
    { fault: "freeze", ...pods, ms: OMISSION_MS, end: "expired" },
  ]);
  return [...leases, ...jumps, ...lists, ...refusals, settings];
}

/** What happens to the record of a pod, alone and while nothing sees it. */
function ofPod({ namespace, name }: LoadedPod, { leader, standby }: Controllers): Fault[][] {
  const pod = `${namespace}/${name}`;
  return TIMES_MS.flatMap((atMs): Fault[][] => {
    const controllers = [leader, standby].map((process): Fault => ({
      ...{ fault: "kill", process, atMs, ms: 2 * DOWN_MS },
    }));
    const gone: Fault = { fault: "deleteRecord", atMs: atMs + 1000, pod };
    const place = { process: leader, object: "PodAllocation", atMs } as const;
    return [
      [gone],
      [{ fault: "forgetOriginals", atMs, pod }, gone],
      [{ fault: "freeze", ...place, ms: OMISSION_MS, end: "expired" }, gone],
      [
        { fault: "freeze", ...place, object: "Pod", ms: OMISSION_MS, end: "resume" },
        { fault: "editLimit", atMs: atMs + 500, pod, limit: 350 },
      ],
      // The guest opts out meanwhile.
      ...(namespace === "guest" ? [[...controllers, gone]] : []),
      ...CORRUPTIONS.map((field): Fault[] => [{ fault: "corrupt", atMs, pod, field }]),
    ];
  });
}

function ofEvents(
  events: readonly RecordedEvent[],
  controllers: Controllers,
): Fault[][] {
  const faults: Fault[][] = [];
  const lastMs = new Map<KindName, number>();
  for (const { object, atMs } of events) {
    if (atMs - (lastMs.get(object) ?? -Infinity) < APART_MS || atMs >= UNTIL_MS) continue;
    lastMs.set(object, atMs);
    for (const process of followersOf(object, controllers)) {
      const place = { process, object, atMs } as const;
      faults.push([{ fault: "freeze", ...place, ms: OMISSION_MS, end: "expired" }]);
      if (process.startsWith("kubelet")) continue;
      faults.push([{ fault: "travel", ...place, ...TRAVEL }]);
      faults.push([
        { fault: "kill", process, atMs, ms: 100 },
        { fault: "travel", ...place, ms: 2 * DOWN_MS, ageMs: TRAVEL.ageMs },
      ]);
    }
  }
  return faults;
}

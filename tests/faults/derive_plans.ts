/**
 * Plans that are derived from a reference run: a crash after each write, a failure of each write, an
 * omission of each event, a travel back in time at each event, and accidents of each pod's record. Source: Sun et al., "Automatic reliability testing for cluster
 * management controllers" (Sieve), OSDI 2022.
 *
 * @module
 */
import type { Verb } from "../../lab/simulation/api/request_gate.ts";
import type { KindName } from "../../lab/simulation/api/kinds.ts";
import { accidents, type Controllers } from "./accidents.ts";
import type { Fault, FaultPlan, ProcessName } from "./fault.ts";
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
/** Derived faults come before the quiet stretch, ms. */
const UNTIL_MS = 118_000;

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
    ...accidents(controllers),
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

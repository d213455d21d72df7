/**
 * Plans of faults: drawn from a seed, derived from what a run shows, and shrunk to what fails.
 *
 * @module
 */
import { type Random, seededRandom } from "../../shared/random.ts";
import type { Verb } from "../../lab/simulation/api/request_gate.ts";
import type { KindName } from "../../lab/simulation/api/kinds.ts";
import { LOADED_PODS } from "./cluster/cluster_load.ts";
import {
  CORRUPTIONS,
  type Fault,
  type FaultOf,
  type FaultPlan,
  type NumberedRequest,
  PROCESSES,
  type ProcessName,
} from "./fault.ts";
import { accidents, type Controllers } from "./disturbances.ts";

/** Faults begin and end within these times, ms. */
const FROM_MS = 5000;
const UNTIL_MS = 115_000;
/** Faults of one kind in a run at most. */
const MOST_OF_A_KIND = 4;

const CONTROLLERS = ["controller-a", "controller-b"] as const;
const AGENTS = ["agent-1", "agent-2"] as const;
/** Writes of a kind, by which processes, and how many there are at most. */
const WRITES: readonly (readonly [readonly ProcessName[], Verb, KindName, number])[] = [
  [CONTROLLERS, "resize", "Pod", 90],
  [CONTROLLERS, "updateStatus", "PodAllocation", 110],
  [CONTROLLERS, "create", "PodAllocation", 16],
  [CONTROLLERS, "delete", "PodAllocation", 15],
  [CONTROLLERS, "update", "Lease", 55],
  [CONTROLLERS, "update", "EndpointSlice", 4],
  [AGENTS, "patch", "PodAllocation", 60],
];
const WATCHED: readonly KindName[] = ["Pod", "PodAllocation", "Namespace", "Node", "ConfigMap"];
const STATUSES = [0, 409, 429, 500, 503, 504] as const;

/** Draws values. */
class Dice {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  /** An integer from `least` to `most`. */
  within(least: number, most: number): number {
    return least + Math.floor(this.#random.next() * (most - least + 1));
  }

  of<T>(values: readonly T[]): T {
    const value = values[this.within(0, values.length - 1)];
    if (value === undefined) throw new RangeError("Cannot draw: there are no values");
    return value;
  }

  chance(share: number): boolean {
    return this.#random.next() < share;
  }

  atMs(): number {
    return this.within(FROM_MS, UNTIL_MS - 31_000);
  }

  pod(): string {
    const { namespace, name } = this.of(LOADED_PODS.filter((one) => one.namespace !== "lab"));
    return `${namespace}/${name}`;
  }
}

/** A write of a leading controller, or of an agent. */
function write(dice: Dice) {
  const [processes, verb, object, most] = dice.of(WRITES);
  return { process: dice.of(processes), verb, object, nth: dice.within(1, most) };
}

const onProcess = (dice: Dice) => ({ process: dice.of(PROCESSES), atMs: dice.atMs() });

function onWatch(dice: Dice, processes: readonly ProcessName[]) {
  return { process: dice.of(processes), object: dice.of(WATCHED), atMs: dice.atMs() };
}

const onPod = (dice: Dice) => ({ atMs: dice.atMs(), pod: dice.pod() });

/** Draws for each kind of fault. A plan of a seed depends on the order. */
const KINDS: { readonly [F in Fault["fault"]]: (dice: Dice) => Omit<FaultOf<F>, "fault"> } = {
  answer: (dice) => {
    const status = dice.of(STATUSES);
    const retryAfterMs = dice.of([0, 1000, 20_000, 86_400_000]);
    return {
      ...write(dice),
      status,
      done: (status === 0 || status >= 500) && dice.chance(0.5),
      ...((status === 429 || status === 503) && retryAfterMs > 0 ? { retryAfterMs } : {}),
      times: dice.of([1, 1, 2, 5, 20]),
    };
  },
  late: (dice) => ({ ...write(dice), ms: dice.of([800, 4000, 15_000, 30_000]) }),
  crash: (dice) => ({ ...write(dice), downMs: dice.of([500, 3000, 20_000]) }),
  kill: (dice) => ({ ...onProcess(dice), ms: dice.of([500, 5000, 30_000]) }),
  pause: (dice) => ({ ...onProcess(dice), ms: dice.of([1000, 8000, 18_000, 30_000]) }),
  clockJump: (dice) => ({
    ...onProcess(dice),
    ms: dice.of([-3_600_000, -5000, 5000, 3_600_000]),
  }),
  freeze: (dice) => ({
    ...onWatch(dice, [...CONTROLLERS, "agent-1"]),
    ms: dice.of([2000, 10_000, 30_000]),
    end: dice.of(["resume", "expired", "cut"]),
  }),
  travel: (dice) => ({
    ...onWatch(dice, CONTROLLERS),
    ms: dice.of([1500, 10_000]),
    ageMs: dice.of([1000, 5000, 20_000]),
  }),
  listFailure: (dice) => ({
    ...onWatch(dice, CONTROLLERS),
    ms: dice.of([3000, 15_000, 30_000]),
  }),
  duplicate: (dice) => ({ ...onWatch(dice, [...CONTROLLERS, "agent-1"]), ms: 30_000 }),
  outage: (dice) => ({ atMs: dice.atMs(), ms: dice.of([300, 3000, 20_000]) }),
  compact: (dice) => ({ atMs: dice.atMs(), ms: 0 }),
  closeWatches: (dice) => ({ atMs: dice.atMs(), ms: 0 }),
  deleteRecord: onPod,
  corrupt: (dice) => ({ ...onPod(dice), field: dice.of(CORRUPTIONS) }),
  forgetOriginals: onPod,
  refuse: (dice) => ({
    object: "Pod",
    atMs: dice.atMs(),
    ms: dice.of([2000, 10_000, 30_000]),
    pod: dice.pod(),
  }),
  rebirth: onPod,
  editLimit: (dice) => ({ ...onPod(dice), limit: dice.of([350, 500, 900]) }),
  restartContainer: onPod,
  optOut: (dice) => ({
    atMs: dice.atMs(),
    ms: dice.of([1500, 6000, 20_000]),
    namespace: dice.of(["shop", "batch", "tenants"]),
  }),
};

/** The plan of this seed. */
export function drawPlan(seed: number): FaultPlan {
  const dice = new Dice(seededRandom(seed * 2 + 1));
  const faults: Fault[] = [];
  const share = dice.of([0.15, 0.3, 0.5]);
  for (const [fault, draw] of Object.entries(KINDS)) {
    if (!dice.chance(share)) continue;
    const count = dice.within(1, MOST_OF_A_KIND);
    for (let i = 0; i < count; i++) faults.push({ fault, ...draw(dice) } as Fault);
  }
  return { seed, idleCPU: dice.of(["free", "tight"]), faults };
}

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
const DERIVED_UNTIL_MS = 118_000;

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
      !READS.has(verb) && atMs < DERIVED_UNTIL_MS && (kind !== "Lease" || nth <= 3)
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
    if (atMs - (lastMs.get(object) ?? -Infinity) < APART_MS || atMs >= DERIVED_UNTIL_MS) continue;
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

/**
 * Removes faults in ever smaller groups while `fails` holds. Source: Zeller and Hildebrandt, delta
 * debugging (ddmin), 2002. Plays at most `most` plans.
 */
export async function shrinkPlan(
  plan: FaultPlan,
  fails: (plan: FaultPlan) => Promise<boolean>,
  { most = 100 }: { readonly most?: number } = {},
): Promise<FaultPlan> {
  let faults: readonly Fault[] = plan.faults;
  let size = Math.ceil(faults.length / 2);
  let played = 0;
  while (size >= 1 && played < most) {
    let smaller: readonly Fault[] | undefined;
    for (let from = 0; from < faults.length && smaller === undefined && played < most;) {
      const rest = [...faults.slice(0, from), ...faults.slice(from + size)];
      played++;
      if (await fails({ ...plan, faults: rest })) smaller = rest;
      from += size;
    }
    if (smaller !== undefined) faults = smaller;
    else if (size === 1) break;
    else size = Math.floor(size / 2);
    size = Math.min(size, Math.max(1, faults.length));
    if (faults.length === 0) break;
  }
  return { ...plan, faults };
}

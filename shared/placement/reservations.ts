/**
 * Places of admitted pods that caches don't show yet: without them a burst would overshoot.
 *
 * @module
 */
import type { ClassCounts, NodeClass } from "./node_classes.ts";
import type { PlacedPod } from "./placed_pod.ts";

/** How a new pod is recognized: by UID, by name, or by the prefix of its generated name. */
export interface AwaitedPod {
  readonly uid?: string;
  readonly name?: string;
  readonly generateName?: string;
}

/** One reserved place. */
export interface Reservation {
  readonly pod: AwaitedPod;
  readonly revision: string;
  readonly class: NodeClass;
  /** Repeated if the server asks again; absent if there is none. */
  readonly deletionCost?: number;
  /** When it was made, ms. */
  readonly sinceMs: number;
  /** When the creation counts as failed, ms. */
  readonly expiresAtMs: number;
}

/** The reservations of one workload. Immutable. */
export interface Reservations {
  /** The oldest first. */
  readonly open: readonly Reservation[];
  /** UIDs of observed pods: none of them ends another reservation. */
  readonly known: ReadonlySet<string>;
  /** UIDs observed since, which are few: only these are copied at each step. */
  readonly recent: ReadonlySet<string>;
}

const MOST_RECENT = 64;

/** A pod in a cache. */
export interface ObservedPod extends Pick<PlacedPod, "uid" | "name" | "revision" | "class"> {
  /** True if it was created without admission: it ends no reservation for a generated name. */
  readonly unadmitted?: true;
}

/** No reservations yet; these pods end none. */
export function noReservations(pods: Iterable<ObservedPod> = []): Reservations {
  return { open: [], known: uidsOf(pods), recent: new Set() };
}

/** Adds a reservation. */
export function reserve({ open, ...seen }: Reservations, one: Reservation): Reservations {
  return { open: [...open, one], ...seen };
}

/** Removes expired reservations. */
export function expire({ open, ...seen }: Reservations, nowMs: number): Reservations {
  return { open: open.filter(({ expiresAtMs }) => nowMs < expiresAtMs), ...seen };
}

/**
 * Observes all pods, including those that are gone. Each new pod ends one reservation: the one with its UID
 * or name, or else the oldest for a generated name like its own, of its revision and class.
 */
export function observePods(before: Reservations, pods: readonly ObservedPod[]): Reservations {
  const { open, known, recent } = observeSomePods(before, pods);
  // UIDs of deleted pods do no harm, but must not accumulate.
  const tooMany = recent.size > MOST_RECENT || known.size > 2 * pods.length + MOST_RECENT;
  return tooMany ? { open, known: uidsOf(pods), recent: new Set() } : { open, known, recent };
}

/** As `observePods`, of some pods only. */
export function observeSomePods(before: Reservations, pods: readonly ObservedPod[]): Reservations {
  const { open, known, recent } = before;
  const unseen = pods.filter(({ uid }) => !known.has(uid) && !recent.has(uid));
  if (unseen.length === 0) return before;
  const left = [...open];
  for (const pod of unseen) {
    const named = left.findIndex((one) => isNamed(one.pod, pod));
    const index = named >= 0 ? named : left.findIndex((one) => isLike(one, pod));
    if (index >= 0) left.splice(index, 1);
  }
  return { open: left, known, recent: new Set([...recent, ...unseen.map(({ uid }) => uid)]) };
}

/** The number of reservations of a revision by class. */
export function reservedByClass({ open }: Reservations, revision: string): ClassCounts {
  const counts = { spot: 0, "on-demand": 0 };
  for (const one of open) if (one.revision === revision) counts[one.class]++;
  return counts;
}

/**
 * Drops the oldest reservations of a revision until at most `most` are left, and none that was made after
 * `untilMs`: more pods than replicas means that earlier creations failed.
 */
export function dropOldest(
  { open, ...seen }: Reservations,
  { revision, most, untilMs }: {
    readonly revision: string;
    readonly most: number;
    readonly untilMs: number;
  },
): Reservations {
  let excess = open.filter((one) => one.revision === revision).length - most;
  return {
    open: open.filter((one) => one.revision !== revision || one.sinceMs > untilMs || excess-- <= 0),
    ...seen,
  };
}

function isNamed({ uid, name }: AwaitedPod, pod: ObservedPod): boolean {
  // A name may be used again, so a UID takes precedence.
  return uid === undefined ? name !== undefined && name === pod.name : uid === pod.uid;
}

function isLike({ pod, revision, class: of }: Reservation, seen: ObservedPod): boolean {
  const { uid, name, generateName } = pod;
  return seen.unadmitted === undefined && uid === undefined && name === undefined &&
    generateName !== undefined &&
    seen.name.startsWith(generateName) && revision === seen.revision && of === seen.class;
}

function uidsOf(pods: Iterable<ObservedPod>): ReadonlySet<string> {
  return new Set([...pods].map(({ uid }) => uid));
}

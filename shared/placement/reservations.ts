/**
 * Pods that were told where to go, and that nobody has seen yet: they count, or a burst would overshoot.
 *
 * @module
 */
import type { ClassCounts, NodeClass } from "./node_classes.ts";
import type { PlacedPod } from "./placed_pod.ts";

/** How a pod that is being made is known: by UID, by name, or by the name that one is generated from. */
export interface AwaitedPod {
  readonly uid?: string;
  readonly name?: string;
  readonly generateName?: string;
}

/** One admission under way. */
export interface Reservation {
  readonly pod: AwaitedPod;
  readonly revision: string;
  readonly class: NodeClass;
  /** What the pod was told beside its class, to be told again; absent where it was nothing. */
  readonly deletionCost?: number;
  /** When it was made, ms since 1970. */
  readonly sinceMs: number;
  /** From then on it is taken for one that came to nothing, ms since 1970. */
  readonly expiresAtMs: number;
}

/** The admissions of one workload. Plain data; each step makes a new one. */
export interface Reservations {
  /** In the order in which they were made. */
  readonly open: readonly Reservation[];
  /** UIDs of pods that have been seen: none of them ends another reservation. */
  readonly known: ReadonlySet<string>;
  /** Of those seen since, which are few: each step copies them, and not all pods of a workload. */
  readonly recent: ReadonlySet<string>;
}

/** How many of them are few. */
const MOST_RECENT = 64;

/** Of whom is seen, only that counts. */
export interface ObservedPod extends Pick<PlacedPod, "uid" | "name" | "revision" | "class"> {
  /**
   * True where it was made without an answer, as while nobody could be asked: no reservation that knows
   * only how names begin can be its own.
   */
  readonly unadmitted?: true;
}

/** No reservations yet; the pods that there are already end none. */
export function noReservations(pods: Iterable<ObservedPod> = []): Reservations {
  return { open: [], known: uidsOf(pods), recent: new Set() };
}

/** One more. */
export function reserve(
  { open, ...seen }: Reservations,
  one: Reservation,
): Reservations {
  return { open: [...open, one], ...seen };
}

/** Without those whose time is over. */
export function expire({ open, ...seen }: Reservations, nowMs: number): Reservations {
  return { open: open.filter(({ expiresAtMs }) => nowMs < expiresAtMs), ...seen };
}

/**
 * After a look at all pods that there are, also those that are gone by now: each that was never seen
 * ends one reservation, the one with its UID or name, or else the oldest for a generated name like its
 * own, of its revision and class.
 */
export function observePods(before: Reservations, pods: readonly ObservedPod[]): Reservations {
  const { open, known, recent } = observeSomePods(before, pods);
  // UIDs of pods that are gone do no harm, but must not become ever more.
  const tooMany = recent.size > MOST_RECENT || known.size > 2 * pods.length + MOST_RECENT;
  return tooMany ? { open, known: uidsOf(pods), recent: new Set() } : { open, known, recent };
}

/** As `observePods`, after a look at some pods only. */
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

/** How many reservations of a revision there are by class. */
export function reservedByClass({ open }: Reservations, revision: string): ClassCounts {
  const counts = { spot: 0, "on-demand": 0 };
  for (const one of open) if (one.revision === revision) counts[one.class]++;
  return counts;
}

/** Which reservations are too many. */
export interface GiveUpOptions {
  readonly revision: string;
  readonly most: number;
  /** None is given up that was made after that, ms since 1970. */
  readonly untilMs: number;
}

/**
 * Without the oldest reservations of a revision, until at most `most` are left or all others are too young:
 * who asks for more pods than there may be has lost those that nobody has seen for the longest.
 */
export function dropOldest(
  { open, ...seen }: Reservations,
  { revision, most, untilMs }: GiveUpOptions,
): Reservations {
  let excess = open.filter((one) => one.revision === revision).length - most;
  return {
    open: open.filter((one) => one.revision !== revision || one.sinceMs > untilMs || excess-- <= 0),
    ...seen,
  };
}

function isNamed({ uid, name }: AwaitedPod, pod: ObservedPod): boolean {
  // Whoever has a UID is known by it alone: a name may be used again.
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

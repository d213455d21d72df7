/**
 * The class of nodes for one pod that is being created, and the places of admitted pods that caches don't
 * show yet: without them a burst would overshoot.
 *
 * @module
 */
import type { ClassCounts, NodeClass } from "./node_classes.ts";
import { type ClassifiedPod, countByClass } from "./placed_pod.ts";
import {
  costOf,
  floorOf,
  nextClass,
  ordinalClass,
  ordinalOf,
  type PlacedWorkload,
  type SplitSpec,
} from "./split.ts";
import type { ShortagePhase } from "./shortage.ts";

/** How a new pod is recognized, as its UID comes later: by name, or by the prefix of a generated one. */
export interface AwaitedPod {
  readonly name?: string | undefined;
  readonly generateName?: string | undefined;
}

/** The decision about a new pod. */
export interface PodPlacement {
  readonly class: NodeClass;
  /** Absent for a StatefulSet's pod. */
  readonly deletionCost?: number;
}

/** One reserved place. */
export interface Reservation extends PodPlacement {
  readonly pod: AwaitedPod;
  readonly revision: string;
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
  readonly observedUIDs: ReadonlySet<string>;
}

/** A pod in a cache. */
export interface CountedPod extends ClassifiedPod {
  /** True if it was created without admission: it ends no reservation for a generated name. */
  readonly unadmitted?: true;
}

/** An empty list of reservations; the given pods will end none. */
export function noReservations(pods: Iterable<CountedPod> = []): Reservations {
  return { open: [], observedUIDs: uidsOf(pods) };
}

/** Removes expired reservations. */
export function expire({ open, ...seen }: Reservations, nowMs: number): Reservations {
  return { open: open.filter(({ expiresAtMs }) => nowMs < expiresAtMs), ...seen };
}

/**
 * Observes pods, including those that are gone. Each new pod ends one reservation: the one with its name, or
 * else the oldest for a generated name like its own, of its revision and class.
 */
export function observePods(before: Reservations, pods: readonly CountedPod[]): Reservations {
  const { open, observedUIDs } = before;
  const newPods = pods.filter(({ uid }) => !observedUIDs.has(uid));
  if (newPods.length === 0) return before;
  const remaining = [...open];
  for (const pod of newPods) {
    const named = remaining.findIndex((one) => one.pod.name === pod.name);
    const index = named >= 0 ? named : remaining.findIndex((one) => isGeneratedFor(one, pod));
    if (index >= 0) remaining.splice(index, 1);
  }
  return { open: remaining, observedUIDs: observedUIDs.union(uidsOf(newPods)) };
}

/**
 * Drops the oldest reservations of a revision until at most `limit` are left, and none that was made after
 * `untilMs`: more pods than replicas means that earlier creations failed.
 */
export function dropOldest(
  { open, ...seen }: Reservations,
  { revision, limit, untilMs }: {
    readonly revision: string;
    readonly limit: number;
    readonly untilMs: number;
  },
): Reservations {
  let excess = open.filter((one) => one.revision === revision).length - limit;
  return {
    open: open.filter((one) => one.revision !== revision || one.sinceMs > untilMs || excess-- <= 0),
    ...seen,
  };
}

/** True for a pod with a generated name that the reservation may be for. */
function isGeneratedFor(reservation: Reservation, pod: CountedPod): boolean {
  const { pod: { name, generateName }, revision } = reservation;
  return pod.unadmitted === undefined && name === undefined && generateName !== undefined &&
    pod.name.startsWith(generateName) && revision === pod.revision &&
    reservation.class === pod.class;
}

function uidsOf(pods: Iterable<CountedPod>): ReadonlySet<string> {
  return new Set([...pods].map(({ uid }) => uid));
}

/** The input of the decision. */
export interface AdmissionInput {
  readonly workload: PlacedWorkload;
  readonly spec: SplitSpec;
  /** All pods of the workload, of all revisions. */
  readonly pods: readonly CountedPod[];
  readonly shortage: ShortagePhase;
  /** The new pod. */
  readonly pod: AwaitedPod & { readonly revision: string };
  /** The only class that the pod can run on; absent: both. */
  readonly only?: NodeClass;
  /** True: nothing is reserved. */
  readonly dryRun: boolean;
  readonly nowMs: number;
}

/** How long a reservation counts, ms: longer than caches lag behind. */
const RESERVED_FOR_MS = 30_000;

/**
 * How long the cached number of replicas may lag behind, ms. More pods than replicas within this time may be a
 * scale-up instead of failed creations: the split counts them, the floor does not.
 */
const LATE_MS = 2000;

/** UIDs of deleted pods that are always kept: building a set of all pods at each admission takes time. */
const MOST_DELETED = 64;

/** The decision, and the reservations from now on. */
export interface PodAdmission extends PodPlacement {
  readonly reservations: Reservations;
}

/**
 * Decides the class by the pods of the revision and the reservations. Calls must not overlap: each needs the
 * reservations of the one before.
 */
export function admitPod(before: Reservations, input: AdmissionInput): PodAdmission {
  const { pod, workload, spec, nowMs } = input;
  const { revision, ...awaited } = pod;
  const observed = observePods(expire(before, nowMs), input.pods);
  // UIDs of deleted pods do no harm, but must not accumulate.
  const isLarge = observed.observedUIDs.size > 2 * input.pods.length + MOST_DELETED;
  const present = isLarge ? { ...observed, observedUIDs: uidsOf(input.pods) } : observed;
  const counted = input.pods.filter((one) => one.revision === revision && !one.gone);
  const limit = workload.replicas - 1 - counted.length;
  // With more pods than replicas the cached number of replicas is old, so no reservation can be judged by it.
  const withoutFailed = (untilMs: number): Reservations =>
    limit < 0 ? present : dropOldest(present, { revision, limit, untilMs });
  const reservations = withoutFailed(nowMs - LATE_MS);
  // Creations may fail after admission, so the floor counts no doubtful reservation.
  const certain = countsOf(revision, { reservations: withoutFailed(nowMs), counted });
  const lacksFloor = workload.kind === "Deployment" &&
    certain["on-demand"] < floorOf(workload.replicas, spec);
  const counts = lacksFloor ? certain : countsOf(revision, { reservations, counted });
  const free = lacksFloor ? "on-demand" : classOf(input, { reservations, counts });
  const chosen = input.only ?? free;
  const answer = {
    class: chosen,
    ...(workload.kind === "Deployment"
      ? { deletionCost: costOf(counts[chosen] + 1, { class: chosen, spec }) }
      : {}),
  };
  if (input.dryRun) return { ...answer, reservations: present };
  const expiresAtMs = nowMs + RESERVED_FOR_MS;
  const one = { ...answer, pod: awaited, revision, sinceMs: nowMs, expiresAtMs };
  return { ...answer, reservations: { ...reservations, open: [...reservations.open, one] } };
}

function countsOf(
  revision: string,
  { reservations, counted }: {
    readonly reservations: Reservations;
    readonly counted: readonly CountedPod[];
  },
): ClassCounts {
  const coming = reservations.open.filter((one) => one.revision === revision);
  return countByClass([...counted, ...coming]);
}

function classOf(
  { workload, spec, shortage, pods, pod }: AdmissionInput,
  { reservations, counts }: { readonly reservations: Reservations; readonly counts: ClassCounts },
): NodeClass {
  if (shortage === "fallback") return "on-demand";
  if (shortage === "returning" && isSpotPending(pods, reservations)) return "on-demand";
  const ordinal = ordinalOf(pod.name ?? "");
  return workload.kind === "StatefulSet" && ordinal !== undefined
    ? ordinalClass(ordinal, { ...workload, spec })
    : nextClass(counts, spec);
}

/** After a shortage pods return one by one: the next once the one before has found a node. */
function isSpotPending(pods: readonly CountedPod[], { open }: Reservations): boolean {
  return open.some((one) => one.class === "spot") ||
    pods.some((one) => one.class === "spot" && !one.gone && !one.scheduled);
}

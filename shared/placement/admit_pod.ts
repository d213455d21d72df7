/**
 * The class of nodes for one pod that is being created.
 *
 * @module
 */
import { costOf } from "./deletion_cost.ts";
import type { ClassCounts, NodeClass } from "./node_classes.ts";
import { countByClass, type PlacedPod } from "./placed_pod.ts";
import {
  type AwaitedPod,
  dropOldest,
  expire,
  type ObservedPod,
  observePods,
  type Reservations,
  reserve,
  reservedByClass,
} from "./reservations.ts";
import type { ShortagePhase } from "./shortage.ts";
import {
  floorOf,
  nextClass,
  ordinalClass,
  ordinalOf,
  type PlacedWorkload,
  type SplitSpec,
} from "./split.ts";

/** A pod in a cache, with the fields that admission counts. */
export interface CountedPod extends ObservedPod, Pick<PlacedPod, "gone" | "scheduled"> {}

/** What the decision depends on. */
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

/** Times, ms. */
export interface AdmissionOptions {
  /**
   * How long a reservation counts: longer than caches lag behind.
   *
   * @default {30000}
   */
  readonly reservedForMs?: number;
  /**
   * How long the cached number of replicas may lag behind. More pods than replicas within this time may be
   * a scale-up instead of failed creations: the split counts them, the floor does not.
   *
   * @default {2000}
   */
  readonly lateMs?: number;
}

/** The decision, and the reservations from now on. */
export interface PodAdmission {
  readonly class: NodeClass;
  /** Absent for a StatefulSet's pod. */
  readonly deletionCost?: number;
  readonly reservations: Reservations;
}

/**
 * Decides the class by the pods of the revision and the reservations. A repeated request about a UID gets
 * the same answer. Calls must not overlap: each needs the reservations of the one before.
 */
export function admitPod(
  before: Reservations,
  input: AdmissionInput,
  { reservedForMs = 30_000, lateMs = 2000 }: AdmissionOptions = {},
): PodAdmission {
  const { pod, workload, spec, nowMs } = input;
  const { revision, ...awaited } = pod;
  const present = observePods(expire(before, nowMs), input.pods);
  const same = present.open.find((one) => pod.uid !== undefined && one.pod.uid === pod.uid);
  if (same !== undefined) {
    const { class: chosen, deletionCost } = same;
    return {
      class: chosen,
      ...(deletionCost === undefined ? {} : { deletionCost }),
      reservations: present,
    };
  }
  const counted = input.pods.filter((one) => one.revision === revision && !one.gone);
  const most = workload.replicas - 1 - counted.length;
  // More pods than replicas are an old view, which says nothing of reservations.
  const keep = (untilMs: number): Reservations =>
    most < 0 ? present : dropOldest(present, { revision, most, untilMs });
  const reservations = keep(nowMs - lateMs);
  // Creations may fail after admission, so the floor counts no doubtful reservation.
  const certain = countsOf(revision, { reservations: keep(nowMs), counted });
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
  const expiresAtMs = nowMs + reservedForMs;
  const one = { ...answer, pod: awaited, revision, sinceMs: nowMs, expiresAtMs };
  return { ...answer, reservations: reserve(reservations, one) };
}

function countsOf(
  revision: string,
  { reservations, counted }: {
    readonly reservations: Reservations;
    readonly counted: readonly CountedPod[];
  },
): ClassCounts {
  const here = countByClass(counted);
  const coming = reservedByClass(reservations, revision);
  return {
    spot: here.spot + coming.spot,
    "on-demand": here["on-demand"] + coming["on-demand"],
  };
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

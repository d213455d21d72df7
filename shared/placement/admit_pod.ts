/**
 * One pod is being made: where does it go?
 *
 * @module
 */
import type { ShortagePhase } from "./shortage.ts";
import { costOf } from "./deletion_cost.ts";
import type { ClassCounts, NodeClass } from "./node_classes.ts";
import {
  floorOf,
  nextClass,
  ordinalClass,
  ordinalOf,
  type PlacedWorkload,
  type SplitSpec,
} from "./split.ts";
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

/** A pod that there is, as far as an admission looks at it. */
export interface CountedPod extends ObservedPod, Pick<PlacedPod, "gone" | "scheduled"> {}

/** What an admission looks at. */
export interface AdmissionInput {
  readonly workload: PlacedWorkload;
  readonly spec: SplitSpec;
  /** All pods of the workload that are seen, of whatever revision. */
  readonly pods: readonly CountedPod[];
  readonly shortage: ShortagePhase;
  /** The pod that is being made. */
  readonly pod: AwaitedPod & { readonly revision: string };
  /** The one class that the pod can run on, whatever is lacking; absent: either. */
  readonly only?: NodeClass;
  /** True where the server only asks what would be: nothing is reserved. */
  readonly dryRun: boolean;
  readonly nowMs: number;
}

/** Times, ms. */
export interface AdmissionOptions {
  /**
   * How long a reservation counts: longer than caches are behind, shorter than anybody waits for a pod.
   *
   * @default {30000}
   */
  readonly reservedForMs?: number;
  /**
   * How late the number of replicas may be seen: whoever makes more pods than that in so short a time may
   * have lost none, but have been scaled up. The share is divided by that; the floor is filled all the same.
   *
   * @default {2000}
   */
  readonly lateMs?: number;
}

/** What is answered, and the reservations from now on. */
export interface PodAdmission {
  readonly class: NodeClass;
  /** What the pod is made with, so that a scale-down a moment later chooses well; StatefulSets have none. */
  readonly deletionCost?: number;
  readonly reservations: Reservations;
}

/**
 * The class of the pod, counting the pods of its revision and those under way. Asked again about the same
 * UID, it answers the same and reserves nothing more. Callers must not ask twice at the same time: each
 * answer stands on the reservations of the one before.
 */
export function admitPod(
  before: Reservations,
  facts: AdmissionInput,
  { reservedForMs = 30_000, lateMs = 2000 }: AdmissionOptions = {},
): PodAdmission {
  const { pod, workload, nowMs } = facts;
  const { revision, ...awaited } = pod;
  const present = observePods(expire(before, nowMs), facts.pods);
  const same = present.open.find((one) => pod.uid !== undefined && one.pod.uid === pod.uid);
  if (same !== undefined) {
    const { class: chosen, deletionCost } = same;
    return {
      class: chosen,
      ...(deletionCost === undefined ? {} : { deletionCost }),
      reservations: present,
    };
  }
  const counted = facts.pods.filter((one) => one.revision === revision && !one.gone);
  const most = workload.replicas - 1 - counted.length;
  // While more than all are there, the pods that are seen are old news, and say nothing of those under way.
  const keep = (untilMs: number): Reservations =>
    most < 0 ? present : dropOldest(present, { revision, most, untilMs });
  const reservations = keep(nowMs - lateMs);
  // Who may have come to nothing, as others deny creations after us, fills no floor.
  const sure = countsOf(revision, { reservations: keep(nowMs), counted });
  const lacksFloor = workload.kind === "Deployment" &&
    sure["on-demand"] < floorOf(workload.replicas, facts.spec);
  const counts = lacksFloor ? sure : countsOf(revision, { reservations, counted });
  const free = lacksFloor ? "on-demand" : classOf(facts, { reservations, counts });
  const chosen = facts.only ?? free;
  const answer = {
    class: chosen,
    ...(workload.kind === "Deployment"
      ? { deletionCost: costOf(counts[chosen] + 1, { class: chosen, spec: facts.spec }) }
      : {}),
  };
  if (facts.dryRun) return { ...answer, reservations: present };
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
  if (shortage === "returning" && isSpotUnderWay(pods, reservations)) return "on-demand";
  const ordinal = ordinalOf(pod.name ?? "");
  return workload.kind === "StatefulSet" && ordinal !== undefined
    ? ordinalClass(ordinal, { ...workload, spec })
    : nextClass(counts, spec);
}

/** After a shortage pods return one by one: the next when the one before has found a node. */
function isSpotUnderWay(pods: readonly CountedPod[], { open }: Reservations): boolean {
  return open.some((one) => one.class === "spot") ||
    pods.some((one) => one.class === "spot" && !one.gone && !one.scheduled);
}

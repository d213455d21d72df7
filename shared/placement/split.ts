/**
 * How many replicas run where.
 *
 * @module
 */
import { type ClassCounts, type NodeClass, otherClass } from "./node_classes.ts";
import type { PlacementSpec } from "./placement_spec.ts";
import type { PlacedKind } from "./eligibility.ts";
import { countByClass, type PlacedPod } from "./placed_pod.ts";

/** The part of a spec that says how many. */
export type SplitSpec = Pick<PlacementSpec, "spotPercentage" | "minOnDemand">;

/**
 * How `replicas` are divided: spot = min(⌊replicas × share⌋, what the floor leaves), on-demand the rest. So
 * the floor wins over the share, and a floor above the replicas means none on spot. 10 replicas, 60 %, floor
 * 2: 6 and 4; 3 replicas: 1 and 2. With one replica more, one of the two counts is one more and the
 * other stays: replicas can be placed one by one, and taken away one by one.
 */
export function splitReplicas(
  replicas: number,
  { spotPercentage, minOnDemand }: SplitSpec,
): ClassCounts {
  const shared = Math.floor(replicas * spotPercentage / 100);
  const spot = Math.max(0, Math.min(shared, replicas - minOnDemand));
  return { spot, "on-demand": replicas - spot };
}

/** How many replicas are to run on-demand whatever the share: the floor, as far as there are so many. */
export function floorOf(replicas: number, { minOnDemand }: SplitSpec): number {
  return Math.min(replicas, minOnDemand);
}

/**
 * The class that lacks a pod when there is one more than those counted: of the two exactly one does, since
 * they lack one together. So the floor is filled first, each number of pods on the way is divided as it
 * is to be, and what stands in the wrong class is made up for first.
 */
export function nextClass(counts: ClassCounts, spec: SplitSpec): NodeClass {
  const { spot } = splitReplicas(counts.spot + counts["on-demand"] + 1, spec);
  return counts.spot < spot ? "spot" : "on-demand";
}

/** Which of its StatefulSet's pods it is. */
export interface OrdinalOptions {
  readonly replicas: number;
  /** `spec.ordinals.start`. @default {0} */
  readonly firstOrdinal?: number;
  readonly spec: SplitSpec;
}

/**
 * The class of a StatefulSet's pod: on-demand below the on-demand count, so that a scale-down, which takes
 * the highest ordinals, keeps the floor.
 */
export function ordinalClass(
  ordinal: number,
  { replicas, firstOrdinal = 0, spec }: OrdinalOptions,
): NodeClass {
  const onDemand = splitReplicas(replicas, spec)["on-demand"];
  return ordinal - firstOrdinal < onDemand ? "on-demand" : "spot";
}

/** The ordinal in the name of a StatefulSet's pod: `web-12` → 12; undefined where there is none. */
export function ordinalOf(podName: string): number | undefined {
  const digits = /-(\d{1,10})$/.exec(podName)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** A workload, as far as it says which of its pods are where. */
export interface PlacedWorkload {
  readonly kind: PlacedKind;
  /** `spec.replicas`. */
  readonly replicas: number;
  /** `spec.ordinals.start` of a StatefulSet. @default {0} */
  readonly firstOrdinal?: number;
}

/**
 * One move: the pod goes, and the one made in its place goes to the class, which is its own where it leaves a
 * node that is about to go.
 */
export interface Move {
  readonly pod: PlacedPod;
  readonly to: NodeClass;
}

/**
 * Those that may move, the best first: to on-demand before to spot, as the floor is what must hold; then
 * pods that are not Ready, those on cordoned nodes, and the youngest. Of a Deployment any pod of the class
 * that has too many will do, by revision. A StatefulSet's pod comes back with its ordinal, which tells
 * its class: only those in the other one help, the highest ordinal first.
 */
export function misplaced(
  pods: readonly PlacedPod[],
  { spec, ...workload }: PlacedWorkload & { readonly spec: SplitSpec },
): readonly Move[] {
  const present = pods.filter(({ gone }) => !gone);
  if (workload.kind === "StatefulSet") return byOrdinal(present, { ...workload, spec });
  return Map.groupBy(present, ({ revision }) => revision).values().toArray()
    .flatMap((revision) => surplus(revision, spec))
    .toSorted((a, b) => firstOfMoves(a, b) || b.pod.createdAtMs - a.pod.createdAtMs);
}

/** How many moves it takes until none is misplaced, whoever may move. */
export function misplacedCount(
  pods: readonly PlacedPod[],
  { spec, ...workload }: PlacedWorkload & { readonly spec: SplitSpec },
): number {
  const present = pods.filter(({ gone }) => !gone);
  if (workload.kind === "StatefulSet") return byOrdinal(present, { ...workload, spec }).length;
  return Map.groupBy(present, ({ revision }) => revision).values().reduce((sum, revision) => {
    const { spot } = splitReplicas(revision.length, spec);
    return sum + Math.abs(spot - countByClass(revision).spot);
  }, 0);
}

function surplus(pods: readonly PlacedPod[], spec: SplitSpec): readonly Move[] {
  const wanted = splitReplicas(pods.length, spec);
  const counts = countByClass(pods);
  return pods.flatMap((pod) =>
    counts[pod.class] > wanted[pod.class] ? [{ pod, to: otherClass(pod.class) }] : []
  );
}

function byOrdinal(
  pods: readonly PlacedPod[],
  options: PlacedWorkload & { readonly spec: SplitSpec },
): readonly Move[] {
  return pods.flatMap((pod) => {
    const ordinal = ordinalOf(pod.name);
    if (ordinal === undefined) return [];
    const to = ordinalClass(ordinal, options);
    return to === pod.class ? [] : [{ pod, to, ordinal }];
  }).toSorted((a, b) => firstOfMoves(a, b) || b.ordinal - a.ordinal)
    .map(({ pod, to }) => ({ pod, to }));
}

function firstOfMoves(a: Move, b: Move): number {
  return Number(a.to === "spot") - Number(b.to === "spot") ||
    Number(a.pod.ready) - Number(b.pod.ready) ||
    Number(b.pod.cordoned) - Number(a.pod.cordoned);
}

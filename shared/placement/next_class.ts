/**
 * Where does the next pod go?
 *
 * @module
 */
import type { PlacedKind } from "./placement_gate.ts";
import type { ClassCounts, NodeClass } from "./node_class.ts";
import { splitReplicas, type SplitWish } from "./split_replicas.ts";

/**
 * The class that lacks a pod when there is one more than those counted: of the two exactly one does, since
 * they lack one together. So the floor is filled first, each number of pods on the way is divided as it
 * is to be, and what stands in the wrong class is made up for first.
 */
export function nextClass(counts: ClassCounts, wish: SplitWish): NodeClass {
  const { spot } = splitReplicas(counts.spot + counts["on-demand"] + 1, wish);
  return counts.spot < spot ? "spot" : "on-demand";
}

/** Which of its StatefulSet's pods it is. */
export interface OrdinalOptions {
  readonly replicas: number;
  /** `spec.ordinals.start`. @default {0} */
  readonly firstOrdinal?: number;
  readonly wish: SplitWish;
}

/**
 * The class of a StatefulSet's pod: on-demand below the on-demand count, so that a scale-down, which takes
 * the highest ordinals, keeps the floor.
 */
export function ordinalClass(
  ordinal: number,
  { replicas, firstOrdinal = 0, wish }: OrdinalOptions,
): NodeClass {
  const onDemand = splitReplicas(replicas, wish)["on-demand"];
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

/**
 * How many replicas run where.
 *
 * @module
 */
import type { ClassCounts } from "./node_class.ts";
import type { PlacementWish } from "./placement_wish.ts";

/** The part of a wish that says how many. */
export type SplitWish = Pick<PlacementWish, "spotPercentage" | "minOnDemand">;

/**
 * How `replicas` are divided: spot = min(⌊replicas × share⌋, what the floor leaves), on-demand the rest. So
 * the floor wins over the share, and a floor above the replicas means none on spot. 10 replicas, 60 %, floor
 * 2: 6 and 4; 3 replicas: 1 and 2. With one replica more, one of the two counts is one more and the
 * other stays: replicas can be placed one by one, and taken away one by one.
 */
export function splitReplicas(
  replicas: number,
  { spotPercentage, minOnDemand }: SplitWish,
): ClassCounts {
  const shared = Math.floor(replicas * spotPercentage / 100);
  const spot = Math.max(0, Math.min(shared, replicas - minOnDemand));
  return { spot, "on-demand": replicas - spot };
}

/** How many replicas are to run on-demand whatever the share: the floor, as far as there are so many. */
export function floorOf(replicas: number, { minOnDemand }: SplitWish): number {
  return Math.min(replicas, minOnDemand);
}

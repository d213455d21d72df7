/**
 * From a container's bounds and demand to its bid.
 *
 * @module
 */
import { upToGrid } from "./rounding.ts";
import type { Bid } from "./solver.ts";

/** One container that takes part. CPU in millicores. */
export interface Bidder {
  /** Bound of the limit from below, on the grid. */
  readonly floor: number;
  /** Bound of the limit from above, on the grid. */
  readonly ceiling: number;
  readonly weight: number;
  /** Factor on the weight. */
  readonly credit: number;
  readonly held?: "half" | "lower" | "both" | undefined;
  /** True for a container that starts: it asks for what the node has to spare. */
  readonly boost?: boolean | undefined;
  /** The limit as last decided. */
  readonly present: number;
  /** Absent while there are no readings: then the limit stays as it is. */
  readonly demand?: number | undefined;
}

/** Least CPU that any bid asks for: the smallest quota the kubelet sets. */
export const LEAST_CPU = 10;

/** Bounds of the limit after holds: what the container's limit may become in this clearing. */
export function limitBounds(bidder: Bidder): { floor: number; ceiling: number } {
  if (bidder.held === "both" || bidder.demand === undefined) {
    return { floor: bidder.present, ceiling: bidder.present };
  }
  if (bidder.held === "lower") {
    const { floor, ceiling, present } = bidder;
    return { floor: Math.max(floor, present), ceiling: Math.max(ceiling, present) };
  }
  if (bidder.held === "half" && bidder.present > bidder.floor) {
    const { floor, ceiling, present } = bidder;
    return { floor: Math.min(ceiling, present - (present - floor) / 2), ceiling };
  }
  return bidder;
}

/**
 * The bid of a container. Its floor is not the limit's: an idle floor costs nobody anything, since
 * cpu.weight gives it back when needed, so the clearing gets min(floor, max(10 m, demand)).
 * Otherwise 110 pods at 100 m would overload an idle node of 8 cores.
 *
 * Demand is rounded up to the grid, as the limit will be: a bid of 82 m that the clearing grants whole
 * must not end at 80 m because rounding gave the step to another.
 */
export function bidOf(bidder: Bidder): Bid {
  const { floor, ceiling } = limitBounds(bidder);
  const demand = bidder.demand ?? bidder.present;
  return {
    weight: bidder.weight * bidder.credit,
    floor: Math.min(floor, Math.max(LEAST_CPU, demand)),
    ceiling,
    demand: upToGrid(demand),
  };
}

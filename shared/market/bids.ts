/**
 * A container's bid, from its bounds and its demand.
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
  const { floor, ceiling, present, demand, held } = bidder;
  if (held === "both" || demand === undefined) return { floor: present, ceiling: present };
  if (held === "lower") {
    return { floor: Math.max(floor, present), ceiling: Math.max(ceiling, present) };
  }
  const isHalved = held === "half" && present > floor;
  return { floor: isHalved ? Math.min(ceiling, present - (present - floor) / 2) : floor, ceiling };
}

/**
 * The bid of a container. Its floor is not the limit's: an idle floor costs nothing, since cpu.weight
 * gives it back when needed, so the clearing gets min(floor, max(10 m, demand)). Otherwise 110 pods at
 * 100 m would overload an idle node of 8 cores.
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

/**
 * The bidders, with more demand for those that start (`boost`): their present limit and, by weight, a
 * part of `spare`, up to the ceiling. `spare` is in millicores that no container holds; below 0 a
 * container that starts asks for no more than it needs, so that it takes nothing from others. One
 * without readings asks for nothing yet.
 */
export function withStartupDemand(
  bidders: readonly Bidder[],
  { spare }: { readonly spare: number },
): readonly Bidder[] {
  const isStarting = ({ boost, demand, held }: Bidder): boolean =>
    boost === true && demand !== undefined && held !== "both";
  const starting = bidders.filter(isStarting);
  if (starting.length === 0 || spare < 0) return bidders;
  const weights = starting.reduce((sum, { weight, credit }) => sum + weight * credit, 0);
  return bidders.map((bidder) => {
    if (!isStarting(bidder)) return bidder;
    const { weight, credit, present, ceiling, demand = 0 } = bidder;
    const asked = present + spare * weight * credit / weights;
    return { ...bidder, demand: Math.max(demand, Math.min(ceiling, asked)) };
  });
}

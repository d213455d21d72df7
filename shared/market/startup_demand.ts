/**
 * What a container that starts asks for: all that the node has to spare.
 *
 * @module
 */
import type { Bidder } from "./bids.ts";

/**
 * The bidders, with more demand for those that start (`boost`): their present limit and, by weight, a
 * part of `spare`, up to the ceiling. `spare` is in millicores that nobody holds; where there are
 * none, below 0, a container that starts asks for no more than it needs, so that it takes nothing
 * from others. One without readings asks for nothing yet.
 */
export function withStartupDemand(
  bidders: readonly Bidder[],
  { spare }: { readonly spare: number },
): readonly Bidder[] {
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

function isStarting({ boost, demand, held }: Bidder): boolean {
  return boost === true && demand !== undefined && held !== "both";
}

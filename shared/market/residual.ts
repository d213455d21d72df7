/**
 * How far a clearing is from the exact optimum of its bids.
 *
 * @module
 */
import type { Bid, Clearing } from "./solver.ts";

/** Totals below this many millicores count as this, so that a total of 0 divides nothing. */
const SMALLEST_TOTAL = 1e-12;

/**
 * The largest violation of the conditions that only the optimum meets (Karush, Kuhn and Tucker), a
 * fraction; at most 1e-9 for an exact clearing. With T = min(max(0, capacity), Σ need), the largest
 * of:
 *
 * - |Σ share − T| / T;
 * - |share · price / weight − 1| of a share strictly between the bounds of the mode;
 * - the distance from a share to where its bounds and weight / price put it, / T: nonzero when a
 *   share lies outside its bounds or rests at one that the price does not push it to.
 *
 * NaN when the clearing holds a NaN. Throws a `RangeError` when it has another number of shares than
 * there are bids.
 */
export function residual(
  bids: readonly Bid[],
  options: { capacity: number; clearing: Clearing },
): number {
  const { capacity, clearing } = options;
  const { mode, price, shares } = clearing;
  if (shares.length !== bids.length) {
    throw new RangeError(
      `Cannot judge the clearing: it has ${shares.length} shares for ${bids.length} bids`,
    );
  }
  const needs = bids.map((bid) => Math.max(bid.floor, Math.min(bid.demand, bid.ceiling)));
  const total = Math.min(Math.max(0, capacity), exactSum(needs));
  const scale = Math.max(total, SMALLEST_TOTAL);
  let worst = Math.abs(exactSum(shares) - total) / scale;
  for (const [i, bid] of bids.entries()) {
    const share = shares[i] as number;
    const lower = mode === "overloaded" ? 0 : bid.floor;
    const upper = mode === "overloaded" ? bid.floor : needs[i] as number;
    if (lower < share && share < upper) {
      worst = Math.max(worst, Math.abs(share * price / bid.weight - 1));
    }
    const target = Math.max(lower, Math.min(bid.weight / price, upper));
    worst = Math.max(worst, Math.abs(share - target) / scale);
  }
  return worst;
}

/** Σ values without the drift of plain summation, which the measure must not add (Neumaier, 1974). */
export function exactSum(values: Iterable<number>): number {
  let sum = 0;
  let error = 0;
  for (const value of values) {
    const next = sum + value;
    error += Math.abs(sum) >= Math.abs(value) ? sum - next + value : value - next + sum;
    sum = next;
  }
  return sum + error;
}

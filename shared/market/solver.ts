/**
 * The clearing of a node's CPU market: the exact weighted proportional-fair division of a capacity
 * between bidders with bounds (Kelly, Maulloo and Tan, "Rate control for communication networks",
 * 1998).
 *
 * @module
 */
import { columnsFor, divide, SLACK } from "./solver_division.ts";

/** One bidder. Millicores; weight has no unit. Requires 0 < weight, 0 <= floor <= ceiling, 0 <= demand, all finite. */
export interface Bid {
  /** Priority in the division: twice the weight is twice the CPU between two bidders off their bounds. */
  weight: number;
  /** The least the bidder gets while the floors fit into the capacity. */
  floor: number;
  /** The most the bidder can get. */
  ceiling: number;
  /** What the bidder would use if nothing held it back. */
  demand: number;
}

/** How much is wanted: all needs fit; only the floors fit; not even these. */
export type Mode = "uncongested" | "congested" | "overloaded";

/** The outcome of a clearing. */
export interface Clearing {
  mode: Mode;
  /**
   * Smallest Lagrange multiplier of capacity, 1/m: what one more millicore would add to the
   * optimum. 0 when uncongested. Infinity when all shares are 0 and someone needs more, and when
   * the floors take the whole capacity while a bidder without a floor needs some.
   */
  price: number;
  /** Millicores, in the order of the bids. */
  shares: Float64Array;
}

/**
 * Divides `capacity` (millicores; below 0 counts as 0) between the bidders. With need = demand
 * within floor and ceiling:
 *
 * - uncongested, Σ need ≤ capacity: everyone gets the need;
 * - congested, Σ floor ≤ capacity < Σ need: the maximum of Σ weight · ln share with
 *   floor ≤ share ≤ need, that is share = clamp(weight / price, floor, need);
 * - overloaded, capacity < Σ floor: the same within 0 ≤ share ≤ floor.
 *
 * Sums are compared with a relative slack of 1e-12. Throws a `RangeError` that names index, field
 * and value when a bid breaks its rule or the capacity is not finite.
 *
 * Worked values: weights 100 and 300, no floors, needs 900 m and 2000 m, 1000 m to share out: 250 m
 * and 750 m at the price 0.4. The time grows linearly, some 40 ns a bid; values between 1e-6 and 1e9
 * in any mix leave a residual below 1e-11 (`residual.ts`).
 */
export function clearMarket(bids: readonly Bid[], capacity: number): Clearing {
  if (!Number.isFinite(capacity)) {
    throw new RangeError(
      `Cannot clear the market: capacity is ${capacity}, expected a finite number`,
    );
  }
  const count = bids.length;
  const columns = columnsFor(count);
  const { weight, lower, upper } = columns;
  // Σ floor and Σ need, each with the rounding errors summed beside it (Knuth's TwoSum), so
  // that neither the order nor the number of the bids moves the border between two modes.
  let floors = 0, floorsError = 0, needs = 0, needsError = 0, weights = 0;
  for (let i = 0; i < count; i++) {
    const bid = bids[i] as Bid;
    const w = bid.weight, floor = bid.floor, ceiling = bid.ceiling, demand = bid.demand;
    // One expression that NaN makes false too; which rule was broken is found out afterwards.
    if (
      !(w > 0 && w < Infinity && floor >= 0 && floor <= ceiling && ceiling < Infinity &&
        demand >= 0 && demand < Infinity)
    ) refuse(bid, i);
    const need = Math.max(floor, Math.min(demand, ceiling));
    weight[i] = w;
    weights += w;
    lower[i] = floor;
    upper[i] = need;
    const moreFloors = floors + floor;
    const floorTaken = moreFloors - floors;
    floorsError += (floors - (moreFloors - floorTaken)) + (floor - floorTaken);
    floors = moreFloors;
    const moreNeeds = needs + need;
    const needTaken = moreNeeds - needs;
    needsError += (needs - (moreNeeds - needTaken)) + (need - needTaken);
    needs = moreNeeds;
  }
  floors += floorsError;
  needs += needsError;

  const reach = capacity > 0 ? capacity * (1 + SLACK) : capacity;
  if (count === 0 || needs <= reach) return { mode: "uncongested", price: 0, shares: upper };
  if (floors <= reach) {
    const price = divide(columns, { total: capacity, least: floors, weights });
    return { mode: "congested", price, shares: upper };
  }
  upper.set(lower.subarray(0, count));
  lower.fill(0, 0, count);
  if (capacity <= 0) {
    upper.fill(0);
    return { mode: "overloaded", price: needs > 0 ? Infinity : 0, shares: upper };
  }
  const price = divide(columns, { total: capacity, least: 0, weights });
  return { mode: "overloaded", price, shares: upper };
}

/** Throws the error that says which rule of {@linkcode Bid} the bid breaks. */
function refuse(bid: Bid, index: number): never {
  const { weight, floor, ceiling, demand } = bid;
  const broken = !(weight > 0 && weight < Infinity)
    ? `weight is ${weight}, expected a finite number above 0`
    : !(floor >= 0 && floor < Infinity)
    ? `floor is ${floor}, expected a finite number of millicores, at least 0`
    : !(ceiling >= floor && ceiling < Infinity)
    ? `ceiling is ${ceiling}, expected a finite number of millicores, at least the floor ${floor}`
    : `demand is ${demand}, expected a finite number of millicores, at least 0`;
  throw new RangeError(`Cannot clear the market: bid ${index}: ${broken}`);
}

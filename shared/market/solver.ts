/**
 * The clearing of a node's CPU market: the exact weighted proportional-fair division of a capacity
 * between bidders with bounds (Kelly, Maulloo and Tan, "Rate control for communication networks",
 * 1998).
 *
 * The shares are clamp(weight · y, lower, upper) for one y = 1 / price, which is found by fixing bidders
 * at their bounds until the others need no bound (Bitran and Hax, "Disaggregation and resource
 * allocation using convex knapsack problems with bounded variables", 1981).
 *
 * @module
 */

/** Sums that differ by less than this fraction are equal: some 4,500 units of the last place. */
const SLACK = 1e-12;

/**
 * One bidder. Millicores; the weight has no unit. All are finite, with 0 < weight,
 * 0 <= floor <= ceiling and 0 <= demand.
 */
export interface Bid {
  /** Twice the weight is twice the CPU between two bidders off their bounds. */
  weight: number;
  /** The least share while the floors fit into the capacity. */
  floor: number;
  ceiling: number;
  /** CPU that the bidder would use without a limit. */
  demand: number;
}

/** Whether all needs fit, only the floors fit, or not even the floors. */
export type Mode = "uncongested" | "congested" | "overloaded";

/** The outcome of a clearing. */
export interface Clearing {
  mode: Mode;
  /**
   * Smallest Lagrange multiplier of capacity, 1/m: the gain of the optimum by one more millicore. 0
   * when uncongested. Infinity when all shares are 0 and a bidder needs more, and when the floors take
   * the whole capacity while a bidder without a floor needs some.
   */
  price: number;
  /** Millicores, in the order of the bids. */
  shares: Float64Array;
}

/**
 * Divides `capacity` (millicores; below 0 counts as 0) between the bidders. With need = demand
 * within floor and ceiling:
 *
 * - uncongested, Σ need ≤ capacity: every bidder gets its need;
 * - congested, Σ floor ≤ capacity < Σ need: the maximum of Σ weight · ln share with
 *   floor ≤ share ≤ need, that is share = clamp(weight / price, floor, need);
 * - overloaded, capacity < Σ floor: the same within 0 ≤ share ≤ floor.
 *
 * Sums are compared with a relative slack of 1e-12. Throws a `RangeError` that names index
 * and values when a bid breaks a rule or the capacity is not finite.
 *
 * Worked values: weights 100 and 300, no floors, needs 900 m and 2000 m, 1000 m to share out: 250 m
 * and 750 m at the price 0.4. Values between 1e-6 and 1e9 in any mix leave a residual below 1e-11.
 */
export function clearMarket(bids: readonly Bid[], capacity: number): Clearing {
  if (!Number.isFinite(capacity)) {
    throw new RangeError(
      `Cannot clear the market: capacity is ${capacity}, expected a finite number`,
    );
  }
  bids.forEach(check);
  const floors = bids.map(({ floor }) => floor);
  const needs = bids.map((bid) => Math.max(bid.floor, Math.min(bid.demand, bid.ceiling)));
  const reach = capacity > 0 ? capacity * (1 + SLACK) : capacity;
  if (bids.length === 0 || exactSum(needs) <= reach) {
    return { mode: "uncongested", price: 0, shares: Float64Array.from(needs) };
  }
  const isOverloaded = exactSum(floors) > reach;
  const ranges = bids.map(({ weight, floor }, i): Range => {
    const [lower, upper] = isOverloaded ? [0, floor] : [floor, needs[i] as number];
    return { weight, lower, upper };
  });
  const y = capacity > 0 ? inversePrice(ranges, capacity) : 0;
  const isNeeded = capacity > 0 || needs.some((need) => need > 0);
  return {
    mode: isOverloaded ? "overloaded" : "congested",
    price: isNeeded ? 1 / y : 0,
    shares: Float64Array.from(ranges.map((range) => shareAt(range, y))),
  };
}

/** The bounds between which a bidder's share grows with y. */
type Range = Readonly<Record<"weight" | "lower" | "upper", number>>;

function shareAt({ weight, lower, upper }: Range, y: number): number {
  return Math.min(upper, Math.max(lower, weight * y));
}

/**
 * The largest y at which the shares sum to `total`, where Σ lower ≤ total < Σ upper, up to the slack.
 *
 * Each round divides what the fixed bidders leave by weight alone. If bounds make that sum too large,
 * the root is at a lower y, where bidders at their lower bounds stay there: these are fixed. If it is
 * too small, those at their upper bounds are.
 */
function inversePrice(ranges: readonly Range[], total: number): number {
  const fixed: number[] = [];
  let free = ranges;
  let y = 0;
  while (free.length > 0) {
    y = -exactSum(fixed, -total) / exactSum(free.map(({ weight }) => weight));
    const excess = exactSum(free.map((range) => shareAt(range, y) - range.weight * y));
    if (excess === 0) break;
    const left: Range[] = [];
    for (const range of free) {
      const isBound = excess > 0 ? range.weight * y < range.lower : range.weight * y > range.upper;
      if (isBound) fixed.push(shareAt(range, y));
      else left.push(range);
    }
    free = left;
  }
  // Where all are at a bound, up to the slack, the price is the smallest at which no bidder would leave
  // its lower bound.
  const isFlat = !ranges.some(({ weight, lower, upper }) =>
    weight * y > lower && weight * y < upper * (1 - SLACK)
  );
  const ends = ranges.flatMap(({ weight, lower, upper }) =>
    isFlat && weight * y <= lower && lower < upper ? [lower / weight] : []
  );
  return ends.length > 0 ? Math.min(...ends) : y;
}

/** Σ values and `start` without the drift of plain summation (Neumaier, 1974). */
function exactSum(values: readonly number[], start = 0): number {
  let sum = start;
  let error = 0;
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    const next = sum + value;
    error += Math.abs(sum) >= Math.abs(value) ? sum - next + value : value - next + sum;
    sum = next;
  }
  return sum + error;
}

/** Throws an error that names the bid's values, if they break a rule of {@linkcode Bid}. */
function check({ weight, floor, ceiling, demand }: Bid, index: number): void {
  const isInOrder = weight > 0 && floor >= 0 && ceiling >= floor && demand >= 0;
  if (isInOrder && weight + ceiling + demand < Infinity) return;
  throw new RangeError(
    `Cannot clear the market: bid ${index}: weight is ${weight}, floor is ${floor}, ceiling is ` +
      `${ceiling}, demand is ${demand}, expected finite numbers with 0 < weight and ` +
      "0 <= floor <= ceiling and 0 <= demand",
  );
}

/**
 * The numerics of the clearing: divides a total so that every share is clamp(weight · y, lower,
 * upper) for one y = 1 / price.
 *
 * The sum of the shares is a piecewise linear, never falling function of y, and its root is found
 * by Newton's method. Bidders whose bound is certain are fixed on the way and leave the passes
 * (Cominetti, Mascarenhas and Silva, "A Newton's method for the continuous quadratic knapsack
 * problem", 2014); a bracket around the root guards the steps. That makes a handful of linear
 * passes over typed arrays, and no sort.
 *
 * @module
 */

/** Sums that differ by less than this fraction are equal: some 4,500 units of the last place. */
export const SLACK = 1e-12;

/** Steps of y below this fraction are within what rounding makes of the sums: some 45 units. */
const ROUNDING = 1e-14;

/**
 * A guard, not a budget: random markets of 10,000 bidders over fifteen decades take about ten
 * passes, and bisecting the widest bracket of positive doubles to the last bit takes about 64.
 */
const MAX_PASSES = 200;

/** The market as columns, one entry a bidder: 0 < weight, 0 <= lower <= upper. */
export interface Columns {
  /** Number of bidders; the work columns may be longer. */
  readonly count: number;
  readonly weight: Float64Array;
  readonly lower: Float64Array;
  /** Replaced by the shares. */
  readonly upper: Float64Array;
  /** Work space for indices. */
  readonly active: Uint32Array;
}

/** What is to be divided. */
export interface Division {
  /** Σ shares. */
  readonly total: number;
  /** Σ lower. */
  readonly least: number;
  /** Σ weight. */
  readonly weights: number;
}

/** What is kept from one clearing to the next. */
interface Workspace {
  readonly weight: Float64Array;
  readonly lower: Float64Array;
  readonly active: Uint32Array;
}

/**
 * Allocating a typed array takes about as long as clearing 30 bids, so the columns that never leave
 * a clearing are kept for the next one: a clearing runs to its end before another begins, and fills
 * in what it reads.
 */
function workspaceOwner(): (count: number) => Workspace {
  let workspace: Workspace | undefined;
  return (count) => {
    if (workspace === undefined || workspace.weight.length < count) {
      const length = Math.max(128, 2 ** Math.ceil(Math.log2(count)));
      workspace = {
        weight: new Float64Array(length),
        lower: new Float64Array(length),
        active: new Uint32Array(length),
      };
    }
    return workspace;
  };
}

const workspaceFor = workspaceOwner();

/** Columns for `count` bidders to be filled in; valid until the next call. `upper` is a new array. */
export function columnsFor(count: number): Columns {
  const { weight, lower, active } = workspaceFor(count);
  return { count, weight, lower, upper: new Float64Array(count), active };
}

/**
 * Replaces `upper` by the shares that sum to `total` (Σ lower ≤ total < Σ upper, up to the slack)
 * and returns the price, the smallest Lagrange multiplier of `total`.
 */
export function divide(columns: Columns, division: Division): number {
  const { total, least } = division;
  const { count, weight, lower, upper } = columns;
  let y = total > least ? findRoot(columns, division) : 0;
  if (!anyFree(columns, y)) y = endOfFlat(columns, y);
  for (let i = 0; i < count; i++) {
    const x = (weight[i] as number) * y;
    upper[i] = Math.min(upper[i] as number, Math.max(lower[i] as number, x));
  }
  return 1 / y;
}

/** Whether some bidder is off both bounds; one that lacks less than the slack is at its upper. */
function anyFree({ count, weight, lower, upper }: Columns, y: number): boolean {
  for (let i = 0; i < count; i++) {
    const x = (weight[i] as number) * y;
    if (x > (lower[i] as number) && x < (upper[i] as number) * (1 - SLACK)) return true;
  }
  return false;
}

/**
 * The largest y with the same shares when all bidders are at a bound at `y`: there the first of
 * them would leave its lower bound. The smallest multiplier is 1 / this.
 */
function endOfFlat({ count, weight, lower, upper }: Columns, y: number): number {
  let end = Infinity;
  for (let i = 0; i < count; i++) {
    const w = weight[i] as number;
    const low = lower[i] as number;
    if (w * y <= low && low < (upper[i] as number)) end = Math.min(end, low / w);
  }
  return end < Infinity ? end : y;
}

/** The search for the root: what is known so far, and what the last look at `y` saw. */
interface Search extends Columns {
  /** How many entries of `active` count: the bidders whose bound is not certain yet, ascending. */
  activeCount: number;
  /**
   * What is left for them: rest + error, exact to twice the digits of a double, so that bidders far
   * smaller than the fixed ones still get their true part.
   */
  rest: number;
  error: number;
  y: number;
  /** Σ weight of the active bidders between their bounds at `y`. */
  slope: number;
  /** Sum and number of the active bidders' bounds that hold at `y`. */
  low: number;
  lowCount: number;
  high: number;
  highCount: number;
}

/** The y at which the shares sum to `total`, where `least` < `total` < Σ upper. */
function findRoot(columns: Columns, { total, least, weights }: Division): number {
  // Σ clamp ≤ Σ lower + y · Σ weight, hence the root is not below this.
  let below = (total - least) / weights;
  let above = Infinity;
  const search = begin(columns, total, { y: Math.max(below, total / weights) });
  // How many bidders the last step took to be at a bound; as many again means the root is found.
  let expectedLow = -1;
  let expectedHigh = -1;
  for (let pass = 0; pass < MAX_PASSES; pass++) {
    const { y, slope, low, high, lowCount, highCount } = search;
    if (slope > 0 && lowCount === expectedLow && highCount === expectedHigh) break;
    const wanted = search.rest - low - high + search.error;
    const excess = slope * y - wanted;
    if (excess === 0 || (slope === 0 && Math.abs(excess) <= SLACK * total)) break;

    const rises = excess < 0;
    if (rises) below = y;
    else above = y;
    let next = slope > 0
      ? wanted / slope
      : rises
      ? firstToLeaveLower(search)
      : lastToReachUpper(search);
    expectedLow = slope === 0 ? -1 : rises ? lowCount : 0;
    expectedHigh = rises ? 0 : highCount;
    if (!(next > below && next < above)) {
      // No step left that rounding would not swallow: this is the root.
      if (Math.abs(next - y) <= ROUNDING * y) break;
      // Newton's step left the bracket: halve it, in digits rather than in size.
      next = Math.sqrt(below) * Math.sqrt(above);
      expectedLow = -1;
      if (!(next > below && next < above)) break;
    }
    fixAndLook(search, next, rises);
  }
  return refine(search, below, above);
}

/**
 * A search that stands at `y`, in which only the bidders without a choice are fixed. It is the first
 * pass of {@linkcode fixAndLook} over all bidders, with another rule of who is certain.
 */
function begin(columns: Columns, total: number, { y }: { y: number }): Search {
  const { count, weight, lower, upper, active } = columns;
  let rest = total, error = 0;
  let activeCount = 0, slope = 0, low = 0, lowCount = 0, high = 0, highCount = 0;
  for (let i = 0; i < count; i++) {
    const w = weight[i] as number;
    const least = lower[i] as number;
    const most = upper[i] as number;
    // Few bidders have no choice, so this branch is foreseen, unlike those below.
    if (least >= most) {
      const less = rest - least;
      error += roundingOf(rest, least, less);
      rest = less;
      continue;
    }
    active[activeCount++] = i;
    const x = w * y;
    const isLow = Number(x < least);
    const isHigh = Number(x >= most);
    low += isLow * least;
    lowCount += isLow;
    high += isHigh * most;
    highCount += isHigh;
    slope += (1 - isLow - isHigh) * w;
  }
  const seen = { y, slope, low, lowCount, high, highCount };
  return { count, weight, lower, upper, active, activeCount, rest, error, ...seen };
}

/** The rounding error of `difference` = a − b, for sums that carry it along (Knuth's TwoSum). */
function roundingOf(a: number, b: number, difference: number): number {
  const taken = a - difference;
  return (a - (difference + taken)) + (taken - b);
}

/**
 * Moves the search to `next`. Of the active bidders those whose bound at the present `y` is certain
 * are fixed, at the upper when the root `rises` above `y`, else at the lower; the others are summed
 * up as they stand at `next`.
 *
 * There are no branches in the loop: which way one goes is a coin toss, and a wrong guess of the
 * processor costs more than all these sums. A truth value is 0 or 1 and multiplies.
 */
function fixAndLook(search: Search, next: number, rises: boolean): void {
  const { weight, lower, upper, active, activeCount, y } = search;
  let { rest, error } = search;
  let kept = 0, slope = 0, low = 0, lowCount = 0, high = 0, highCount = 0;
  for (let k = 0; k < activeCount; k++) {
    const i = active[k] as number;
    const w = weight[i] as number;
    const least = lower[i] as number;
    const most = upper[i] as number;
    const stays = Number(rises ? w * y < most : w * y >= least);
    const bound = (1 - stays) * (rises ? most : least);
    const less = rest - bound;
    error += roundingOf(rest, bound, less);
    rest = less;
    active[kept] = i;
    kept += stays;
    const x = w * next;
    const isLow = stays * Number(x < least);
    const isHigh = stays * Number(x >= most);
    low += isLow * least;
    lowCount += isLow;
    high += isHigh * most;
    highCount += isHigh;
    slope += (stays - isLow - isHigh) * w;
  }
  search.y = next;
  search.activeCount = kept;
  search.rest = rest;
  search.error = error;
  search.slope = slope;
  search.low = low;
  search.lowCount = lowCount;
  search.high = high;
  search.highCount = highCount;
}

/** With all active bidders at a bound: a y just above where the first leaves its lower one. */
function firstToLeaveLower({ weight, lower, active, activeCount, y }: Search): number {
  let first = Infinity;
  for (let k = 0; k < activeCount; k++) {
    const i = active[k] as number;
    const w = weight[i] as number;
    const bound = lower[i] as number;
    if (w * y < bound) first = Math.min(first, bound / w);
  }
  return first * (1 + ROUNDING);
}

/** With all active bidders at a bound: a y just below where the last reaches its upper one. */
function lastToReachUpper({ weight, upper, active, activeCount, y }: Search): number {
  let last = 0;
  for (let k = 0; k < activeCount; k++) {
    const i = active[k] as number;
    const w = weight[i] as number;
    const bound = upper[i] as number;
    if (w * y >= bound) last = Math.max(last, bound / w);
  }
  return last * (1 - ROUNDING);
}

/**
 * The root of the piece that holds `y`, with its bounds summed exactly: needed where the free
 * bidders share what little the others leave, so that rounding would eat it.
 */
function refine(search: Search, below: number, above: number): number {
  const { weight, lower, upper, active, activeCount, y } = search;
  let { rest, error } = search;
  if (search.slope * y > 0.1 * rest) return y;
  let slope = 0;
  for (let k = 0; k < activeCount; k++) {
    const i = active[k] as number;
    const w = weight[i] as number;
    const isLow = Number(w * y < (lower[i] as number));
    const isHigh = Number(w * y >= (upper[i] as number));
    slope += (1 - isLow - isHigh) * w;
    const bound = isLow * (lower[i] as number) + isHigh * (upper[i] as number);
    const less = rest - bound;
    error += roundingOf(rest, bound, less);
    rest = less;
  }
  if (slope === 0) return y;
  const refined = (rest + error) / slope;
  return refined >= below && refined <= above ? refined : y;
}

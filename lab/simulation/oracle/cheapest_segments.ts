/**
 * The cheapest way to cut a run into at most so many segments, each at its least level.
 *
 * With a price on every segment the best cut is a shortest path. The price is moved until the number
 * of segments fits (Lagrange): each price bounds the cost from below, and the last path that fits
 * bounds it from above. Between the two the exact number is settled by a shortest path with counted
 * segments over those few edges that a path within the bounds can use (fixing by reduced costs;
 * Handler and Zang, "A dual algorithm for the constrained shortest path problem", 1980).
 *
 * @module
 */
import type { LevelTable } from "./level_table.ts";

/** A cut of the run. */
export interface SegmentCut {
  /** First step of each segment; the first is 0. */
  readonly starts: readonly number[];
  /** Price of a segment at which the search ended; a good start for a table slightly raised. */
  readonly price: number;
}

/** What is asked for. */
export interface SegmentCutOptions {
  /** At most so many segments, 1 or more. */
  readonly segments: number;
  /** Price with which to begin. */
  readonly price?: number;
}

/** Costs are whole numbers below 2^40; sums with prices are good to this. */
const EPSILON = 1e-6;
/** Edges × segments that are tried for the exact number; beyond, the path that fits is taken. */
const MOST_RELAXATIONS = 50_000_000;

interface Path {
  readonly starts: readonly number[];
  readonly cost: number;
}

/** Scratch of one search. */
interface Search {
  readonly table: LevelTable;
  /** Cost with prices from 0 to step s. */
  readonly ahead: Float64Array;
  readonly previous: Int32Array;
}

/** The cheapest cut. The table's longest segment suffices for so few of them. */
export function cheapestSegments(table: LevelTable, options: SegmentCutOptions): SegmentCut {
  const { steps } = table;
  const { segments } = options;
  const search: Search = {
    table,
    ahead: new Float64Array(steps + 1),
    previous: new Int32Array(steps + 1),
  };
  const ends = bracket(search, { segments, guess: options.price ?? 0 });
  if (ends.many === undefined) return { starts: ends.few.starts, price: 0 };
  let { many, few } = ends;
  for (;;) {
    const price = (few.cost - many.cost) / (many.starts.length - few.starts.length);
    // A path that is cheapest at some price is the cheapest of its number of segments.
    if (few.starts.length === segments) return { starts: few.starts, price };
    const path = shortestPath(search, price);
    const value = path.cost + price * path.starts.length;
    if (value >= few.cost + price * few.starts.length - EPSILON) {
      const bound = Math.ceil(value - price * segments - EPSILON);
      const { starts } = bound >= few.cost ? few : exactPath(search, { price, segments, few });
      return { starts, price };
    }
    if (path.starts.length <= segments) few = path;
    else many = path;
  }
}

/** Steps of the price away from a guess that was wrong. */
const PRICE_STEP = 1.1;
/** How far a price is followed before the search begins from nothing. */
const MOST_DRIFT = 2;

/** The cheapest paths of two prices, one that fits and, unless all do, one of too many segments. */
function bracket(
  search: Search,
  { segments, guess }: { readonly segments: number; readonly guess: number },
): { readonly few: Path; readonly many: Path | undefined } {
  const fits = (path: Path): boolean => path.starts.length <= segments;
  if (guess > 0) {
    let price = guess;
    let path = shortestPath(search, price);
    if (fits(path)) {
      // Too cheap a price to be distinguished from none needs the start from nothing.
      for (; price > guess / MOST_DRIFT; price /= PRICE_STEP) {
        const next = shortestPath(search, price / PRICE_STEP);
        if (!fits(next)) return { few: path, many: next };
        path = next;
      }
    } else {
      for (; price < guess * MOST_DRIFT; price *= PRICE_STEP) {
        const next = shortestPath(search, price * PRICE_STEP);
        if (fits(next)) return { few: next, many: path };
        path = next;
      }
    }
  }
  const many = shortestPath(search, 0);
  if (fits(many)) return { few: many, many: undefined };
  // Higher than any cost: as few segments as there can be.
  const { steps, levels, longest } = search.table;
  const highest = 2 * many.cost + steps * (levels[longest - 1] as number) + 1;
  return { few: shortestPath(search, highest), many };
}

/** The path of least cost + price × segments. */
function shortestPath({ table, ahead, previous }: Search, price: number): Path {
  const { steps, levels, rowStart } = table;
  ahead.fill(Infinity);
  ahead[0] = 0;
  for (let from = 0; from < steps; from++) {
    const base = (ahead[from] as number) + price;
    const row = rowStart[from] as number;
    const width = (rowStart[from + 1] as number) - row;
    for (let length = 1; length <= width; length++) {
      const value = base + (levels[row + length - 1] as number) * length;
      if (value < (ahead[from + length] as number)) {
        ahead[from + length] = value;
        previous[from + length] = from;
      }
    }
  }
  return pathTo(table, (step) => previous[step] as number);
}

function pathTo(table: LevelTable, previousOf: (step: number) => number): Path {
  const starts: number[] = [];
  let cost = 0;
  for (let to = table.steps; to > 0;) {
    const from = previousOf(to);
    cost += (table.levels[(table.rowStart[from] as number) + to - from - 1] as number) *
      (to - from);
    starts.push(from);
    to = from;
  }
  return { starts: starts.reverse(), cost };
}

interface Gap {
  readonly price: number;
  readonly segments: number;
  /** The best path that fits. */
  readonly few: Path;
}

/** The cheapest path of at most `segments`: among the edges that a path below `few` can use. */
function exactPath(search: Search, { price, segments, few }: Gap): Path {
  const { steps, rowStart, levels } = search.table;
  const width = steps + 1;
  const edges = usableEdges(search, {
    price,
    most: few.cost + price * segments,
    count: Math.floor(MOST_RELAXATIONS / segments),
  });
  if (edges === undefined) return few;
  const cost = new Float64Array((segments + 1) * width).fill(Infinity);
  const previous = new Int32Array((segments + 1) * width);
  cost[0] = 0;
  for (let used = 0; used < segments; used++) {
    const here = used * width;
    const next = here + width;
    for (const edge of edges) {
      const a = Math.floor(edge / width);
      const b = edge - a * width;
      const level = levels[(rowStart[a] as number) + b - a - 1] as number;
      const value = (cost[here + a] as number) + level * (b - a);
      if (value < (cost[next + b] as number)) {
        cost[next + b] = value;
        previous[next + b] = a;
      }
    }
  }
  let used = 0;
  for (let layer = 1; layer <= segments; layer++) {
    if ((cost[layer * width + steps] as number) < (cost[used * width + steps] as number)) {
      used = layer;
    }
  }
  if (!((cost[used * width + steps] as number) < few.cost)) return few;
  return pathTo(search.table, (step) => previous[used-- * width + step] as number);
}

/**
 * Edges from × (steps + 1) + to on paths with a cost plus prices of at most `most`, by their starts
 * from the last; undefined when there are more than `count`.
 */
function usableEdges(
  { table, ahead }: Search,
  { price, most, count }: { price: number; most: number; count: number },
): readonly number[] | undefined {
  const { steps, levels, rowStart } = table;
  const behind = new Float64Array(steps + 1);
  const edges: number[] = [];
  // Rows are visited backwards, so the cost from each step to the end is known when needed.
  for (let step = steps - 1; step >= 0; step--) {
    const row = rowStart[step] as number;
    const width = (rowStart[step + 1] as number) - row;
    const allowed = most - (ahead[step] as number) + EPSILON;
    let best = Infinity;
    for (let length = 1; length <= width; length++) {
      const value = price + (levels[row + length - 1] as number) * length +
        (behind[step + length] as number);
      if (value < best) best = value;
      if (value <= allowed) edges.push(step * (steps + 1) + step + length);
    }
    if (edges.length > count) return undefined;
    behind[step] = best;
  }
  return edges;
}

/**
 * The cheapest way to cut a run into at most so many segments, each at its least level.
 *
 * With a price on every segment the best cut is a shortest path, the cheapest of its number of
 * segments. The price is moved until the number fits (Lagrange). Numbers that are the cheapest at no
 * price are not found: then fewer segments are used than may be.
 *
 * @module
 */
import type { LevelTable } from "./level_table.ts";

/** Costs are whole numbers below 2^40; sums with prices are good to this. */
const EPSILON = 1e-6;

interface Path {
  readonly starts: readonly number[];
  readonly cost: number;
}

/**
 * First step of each of at most `segments`, 1 or more; the first is 0. The table's longest segment
 * suffices for so few of them.
 */
export function cheapestSegments(table: LevelTable, segments: number): readonly number[] {
  const { steps, levels, longest } = table;
  let many = shortestPath(table, 0);
  if (many.starts.length <= segments) return many.starts;
  // Higher than any cost: as few segments as there can be.
  const highest = 2 * many.cost + steps * (levels[longest - 1] as number) + 1;
  let few = shortestPath(table, highest);
  while (few.starts.length < segments) {
    const price = (few.cost - many.cost) / (many.starts.length - few.starts.length);
    const path = shortestPath(table, price);
    const value = path.cost + price * path.starts.length;
    if (value >= few.cost + price * few.starts.length - EPSILON) break;
    if (path.starts.length <= segments) few = path;
    else many = path;
  }
  return few.starts;
}

/** The path of least cost + price × segments. */
function shortestPath({ steps, levels, rowStart }: LevelTable, price: number): Path {
  /** Cost with prices from 0 to step s, and the start of the last segment there. */
  const ahead = new Float64Array(steps + 1).fill(Infinity);
  const previous = new Int32Array(steps + 1);
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
  const starts: number[] = [];
  for (let to = steps; to > 0;) {
    to = previous[to] as number;
    starts.push(to);
  }
  return { starts: starts.reverse(), cost: (ahead[steps] as number) - price * starts.length };
}

/**
 * Moves the boundaries of a plan a little, to where it costs least.
 *
 * @module
 */
import { levelOf, type LevelTable } from "./level_table.ts";

/** Steps by which each boundary may move, either way. */
const REACH = 24;

/**
 * The cheapest cut with boundaries that are near those of `starts` (first step of each segment), each
 * segment at its least level. A segment may vanish: it keeps a place, that of the next start, and may
 * come back. Time grows with the number of segments alone.
 */
export function shiftBoundaries(table: LevelTable, starts: readonly number[]): readonly number[] {
  const { steps, longest } = table;
  const width = 2 * REACH + 1;
  // Place p of layer k stands for a boundary at start + p − REACH; the last layer is the end alone.
  const placeOf = (layer: number, place: number): number =>
    layer === starts.length
      ? steps
      : layer === 0
      ? 0
      : Math.max(0, Math.min(steps, (starts[layer] as number) + place - REACH));
  const previous = new Int32Array((starts.length + 1) * width);
  let cost = new Float64Array(width).fill(Infinity);
  cost[0] = 0;
  for (let layer = 1; layer <= starts.length; layer++) {
    const next = new Float64Array(width).fill(Infinity);
    const places = layer === starts.length ? 1 : width;
    for (let place = 0; place < places; place++) {
      const to = placeOf(layer, place);
      for (let back = 0; back < width; back++) {
        const from = placeOf(layer - 1, back);
        if (from > to || to - from > longest || cost[back] === Infinity) continue;
        const segment = from === to ? 0 : levelOf(table, { from, to }) * (to - from);
        const value = (cost[back] as number) + segment;
        if (value >= (next[place] as number)) continue;
        next[place] = value;
        previous[layer * width + place] = back;
      }
    }
    cost = next;
  }
  const shifted: number[] = [];
  let place = 0;
  for (let layer = starts.length; layer > 0; layer--) {
    place = previous[layer * width + place] as number;
    shifted.push(placeOf(layer - 1, place));
  }
  return shifted.reverse();
}

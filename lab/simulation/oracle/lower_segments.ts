/**
 * Makes a plan that is in time cheaper: lowers its segments as far as it stays in time, where a new
 * limit's gift of a quota, or a moment on credit, helps out, and moves its boundaries a little.
 *
 * @module
 */
import type { ReplayOptions } from "./find_cuts.ts";
import { LEVEL_MS, levelOf, type LevelTable } from "./level_table.ts";
import type { RequestLog } from "./request_log.ts";

/** Steps before and after a segment that are played with it. */
const AROUND = 3;

/**
 * The plan, by its level in each step and the first step of each segment, with each segment in turn at
 * the least level at which no request near it is late. The costliest goes first. When the whole of it
 * is late all the same, the plan stays as it is.
 */
export function lowerSegments(
  log: RequestLog,
  { levels, starts }: { readonly levels: Uint16Array; readonly starts: readonly number[] },
  options: ReplayOptions,
): Uint16Array {
  const { grid, floor } = options;
  const lowered = levels.slice();
  const segments = starts.map((from, index) => ({ from, to: starts[index + 1] ?? grid.steps }))
    .filter(({ from, to }) => from < to);
  const costOf = ({ from, to }: Steps): number => (levels[from] as number) * (to - from);
  let any = false;
  for (const segment of segments.toSorted((a, b) => costOf(b) - costOf(a))) {
    const { from, to } = segment;
    const present = levels[from] as number;
    const suffices = (level: number): boolean => {
      lowered.fill(level, from, to);
      const near = { from: Math.max(0, from - AROUND), to: Math.min(grid.steps, to + AROUND) };
      return isInTime(log, { levels: lowered, near }, options);
    };
    // One level less is too little as a rule; then that is all that it costs to know.
    let least = present;
    if (present > floor && suffices(present - 1)) {
      least--;
      for (let tooLow = floor - 1; least - tooLow > 1;) {
        const level = (least + tooLow) >> 1;
        if (suffices(level)) least = level;
        else tooLow = level;
      }
    }
    lowered.fill(least, from, to);
    if (least < present) any = true;
  }
  if (!any) return levels;
  return isInTime(log, { levels: lowered, near: { from: 0, to: grid.steps } }, options)
    ? lowered
    : levels;
}

/** Steps [from, to). */
interface Steps {
  readonly from: number;
  readonly to: number;
}

function isInTime(
  log: RequestLog,
  { levels, near: { from, to } }: { readonly levels: Uint16Array; readonly near: Steps },
  { threads, cores, grid, due, serve }: ReplayOptions,
): boolean {
  return serve(log, {
    threads,
    cores,
    grid,
    quotaOf: (period) => (levels[grid.stepOf[period] as number] as number) * LEVEL_MS,
    fromPeriod: grid.firstPeriod[from] as number,
    untilMs: Math.min(log.durationMs, to * grid.stepMs),
  }, { stopAfterMs: due.dueMs });
}

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

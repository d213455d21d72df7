/**
 * The least constant limit for every segment of a plan, as far as it is known: a table that only
 * grows.
 *
 * A segment needs at least what its parts need. Beyond that it needs, for each run of periods a to b
 * within it, the work that is due before b ends and cannot have been done before a starts, spread
 * over their b − a + 1 quotas. Only runs from the segment's first step to its last are new to it.
 *
 * @module
 */
import type { LimitBounds } from "../../../shared/market/rounding.ts";
import {
  LATE_SLACK_MS,
  PERIOD_MS,
  type PeriodGrid,
  playLog,
  type PlayOptions,
  type RequestLog,
} from "./play_log.ts";

/** Least levels of the segments of steps [from, to) with to − from ≤ longest. 1 level = 10 m. */
export interface LevelTable {
  readonly steps: number;
  /** Longest segment, steps. */
  readonly longest: number;
  /** Level of [from, from + length) at `rowStart[from] + length − 1`. */
  readonly levels: Uint16Array;
  readonly rowStart: Int32Array;
}

/** Quota of one level, ms per period: 10 m of 100 ms. */
export const LEVEL_MS = 1;
/** Levels are stored in 16 bits. */
export const HIGHEST_LEVEL = 0xffff;
/** Room for an hour of 1 s steps in segments of any length: 14 MB, gone through in 10 ms. */
const ROOM = 7_000_000;
/** Longer runs get room for segments of so many times the mean length. */
const SPREAD = 8;
/** Rounding of sums of a million costs must not cost a level. */
const SLACK = 1e-6;

/** Level of a segment within the longest. */
export function levelOf(table: LevelTable, { from, to }: { from: number; to: number }): number {
  return table.levels[(table.rowStart[from] as number) + to - from - 1] as number;
}

/** The longest segment that a table for this many segments has, steps: all, where there is room. */
export function longestSegment(steps: number, segments: number): number {
  return Math.min(steps, Math.max(Math.floor(ROOM / steps), Math.ceil(SPREAD * steps / segments)));
}

/** The table of what the work alone demands. Time and memory grow as steps × longest. */
export function levelTable(
  grid: PeriodGrid,
  { dueBefore, doneBefore }: Pick<DueWork, "dueBefore" | "doneBefore">,
  { floor, ceiling, longest = grid.steps }: LimitBounds & { readonly longest?: number },
): LevelTable {
  const { steps, firstPeriod } = grid;
  const rowStart = new Int32Array(steps + 1);
  for (let from = 0; from < steps; from++) {
    rowStart[from + 1] = (rowStart[from] as number) + Math.min(longest, steps - from);
  }
  const levels = new Uint16Array(rowStart[steps] as number);

  /** The highest of `level` and what runs from step `from` to step `last` need. */
  const withRuns = (from: number, last: number, level: number): number => {
    const a0 = firstPeriod[from] as number;
    const a1 = (firstPeriod[from + 1] as number) - 1;
    const b0 = firstPeriod[last] as number;
    const b1 = (firstPeriod[last + 1] as number) - 1;
    const most = (dueBefore[b1] ?? 0) - (doneBefore[a0] as number);
    // Most work over fewest periods: beyond some steps this hardly ever passes.
    if (most <= level * LEVEL_MS * Math.max(1, b0 - a1 + 1)) return level;
    let need = level * LEVEL_MS;
    for (let a = a0; a <= a1; a++) {
      const done = doneBefore[a] as number;
      for (let b = Math.max(a, b0); b <= b1; b++) {
        const quota = ((dueBefore[b] as number) - done) / (b - a + 1);
        if (quota > need) need = quota;
      }
    }
    return Math.min(ceiling, Math.max(level, Math.ceil(need / LEVEL_MS - SLACK)));
  };

  for (let from = steps - 1; from >= 0; from--) {
    const row = rowStart[from] as number;
    const below = rowStart[from + 1] as number;
    const width = (rowStart[from + 1] as number) - row;
    let level = floor;
    for (let length = 1; length <= width; length++) {
      // [from + 1, from + length) has length − 1 steps.
      const part = length > 1 ? levels[below + length - 2] as number : floor;
      if (part > level) level = part;
      level = withRuns(from, from + length - 1, level);
      levels[row + length - 1] = level;
    }
  }
  return { steps, longest, levels, rowStart };
}

/** A finding: every segment that holds the steps first to last needs at least this level. */
export type Cut = Readonly<Record<"first" | "last" | "level", number>>;

/**
 * Raises the segments that a cut concerns; those that hold them in turn have as much already. False
 * when there was none to raise.
 */
export function applyCut(table: LevelTable, { first, last, level }: Cut): boolean {
  const { levels, rowStart, steps, longest } = table;
  let any = false;
  for (let from = first; from >= 0 && last - from < longest; from--) {
    const row = (rowStart[from] as number) - from - 1;
    const end = Math.min(steps, from + longest);
    let raised = false;
    for (let to = last + 1; to <= end && (levels[row + to] as number) < level; to++) {
      levels[row + to] = level;
      raised = true;
    }
    if (!raised) break;
    any = true;
  }
  return any;
}

/** Bounds of any plan. */
export interface DueWork {
  /**
   * Latest that each request may be done, ms: arrival + cost + d; for one that is later even under
   * the ceiling the time at which the ceiling has it done. Infinity when that is after the run.
   */
  readonly dueMs: Float64Array;
  /** CPU ms that are due before period p ends. */
  readonly dueBefore: Float64Array;
  /** The most that any plan has done when period p starts, CPU ms: what the ceiling has. */
  readonly doneBefore: Float64Array;
}

/**
 * Plays the log once under the ceiling, ms per period, and writes down what is due when. A request may
 * wait for the SLO beyond its own work.
 */
export function dueWork(
  log: RequestLog,
  options:
    & Omit<PlayOptions, "quotaOf" | "fromPeriod" | "untilMs">
    & Readonly<Record<"sloMs" | "ceilingMs", number>>,
): DueWork {
  const { grid, sloMs, ceilingMs } = options;
  const { atMs, costMs, durationMs } = log;
  const { periods } = grid;
  const doneMs = new Float64Array(atMs.length).fill(Infinity);
  const usedMs = new Float64Array(periods);
  playLog(log, { ...options, quotaOf: () => ceilingMs, untilMs: durationMs }, { doneMs, usedMs });

  const dueBefore = new Float64Array(periods);
  const dueMs = doneMs.map((done, index) => {
    const cost = costMs[index] as number;
    const free = (atMs[index] as number) + cost + sloMs;
    const due = done > free + LATE_SLACK_MS && free <= durationMs ? done : free;
    if (due > durationMs) return Infinity;
    (dueBefore[periodAt(grid, due)] as number) += cost;
    return due;
  });
  const doneBefore = new Float64Array(periods + 1);
  for (let period = 0; period < periods; period++) {
    (dueBefore[period] as number) += period === 0 ? 0 : dueBefore[period - 1] as number;
    doneBefore[period + 1] = (doneBefore[period] as number) + (usedMs[period] as number);
  }
  return { dueMs, dueBefore, doneBefore };
}

/** The period in which a time of the run lies; one at a refill belongs to the period before. */
export function periodAt({ startMs, periods }: PeriodGrid, ms: number): number {
  const first = startMs[1] as number;
  if (ms <= first) return 0;
  const period = Math.ceil((ms - first) / PERIOD_MS);
  return Math.min(period, periods - 1);
}

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

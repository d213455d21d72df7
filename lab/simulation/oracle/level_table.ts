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
import type { LimitRange } from "../../../shared/market/rounding.ts";
import type { DueWork } from "./due_work.ts";
import type { PeriodGrid } from "./request_log.ts";

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
  { floor, ceiling, longest = grid.steps }: LimitRange & { readonly longest?: number },
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
export interface Cut {
  readonly first: number;
  readonly last: number;
  readonly level: number;
}

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

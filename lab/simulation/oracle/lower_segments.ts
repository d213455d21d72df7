/**
 * Lowers the segments of a plan that is in time, as far as it stays so: what is found window by window
 * is more than enough where a new limit's gift of a quota, or a moment on credit, helps out.
 *
 * @module
 */
import type { ReplayOptions } from "./find_cuts.ts";
import { LEVEL_MS } from "./level_table.ts";
import type { RequestLog } from "./request_log.ts";

/** Steps before and after a segment that are played with it. */
const AROUND = 3;

/** A plan: its level in each step, and the first step of each segment. */
export interface SegmentedPlan {
  readonly levels: Uint16Array;
  readonly starts: readonly number[];
}

/**
 * The plan, each segment in turn at the least level at which no request near it is late. The costliest
 * goes first. When the whole of it is late all the same, the plan stays as it is.
 */
export function lowerSegments(
  log: RequestLog,
  { levels, starts }: SegmentedPlan,
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

/**
 * Looks for late requests in a play of a plan, and says which levels would have held them.
 *
 * A request is late for what came since the quota last sufficed. That window, served alone by an idle
 * server, needs some least constant quota: so does every segment that holds it, for requests left
 * out make none later. Where a window lies across a change of the limit, or an idle start hides what
 * was carried into it, a plan is held to a little more than it strictly needs.
 *
 * @module
 */
import type { LimitBounds } from "../../../shared/market/rounding.ts";
import { type Cut, type DueWork, LEVEL_MS, periodAt } from "./level_table.ts";
import {
  LATE_SLACK_MS,
  type PeriodGrid,
  playLog,
  type PlayTrace,
  type RequestLog,
  type ServerSpec,
} from "./play_log.ts";

/** Periods without enough quota that are looked at together. */
const LONGEST_STREAK = 50;

/** The requests, the pod that serves them, and the levels that it may have. */
export interface Replay extends ServerSpec, LimitBounds {
  readonly log: RequestLog;
  readonly grid: PeriodGrid;
  readonly due: DueWork;
}

/** A plan. */
export interface Plan {
  /** In each step. */
  readonly levels: Uint16Array;
  /** First step of each segment, ascending. */
  readonly starts: readonly number[];
}

/** Periods from the first to the last. */
type Window = Readonly<Record<"from" | "to", number>>;

/** Cuts that would have kept the plan's requests from being late; none when none was. */
export function findCuts(replay: Replay, { levels, starts }: Plan): Cut[] {
  const { grid } = replay;
  return lateWindows(replay, levels).map(({ from, to }) => {
    const first = grid.stepOf[from] as number;
    const last = grid.stepOf[to] as number;
    // A cut that has the step has all of it: what it leaves under way counts too.
    const window = { from: grid.firstPeriod[first] as number, to };
    const present = levels[last] as number;
    const isInOneSegment = !starts.some((start) => start > first && start <= last);
    const level = isInOneSegment ? leastLevel(replay, { window, above: present }) : present;
    return level > present ? { first, last, level } : raisedStep(replay, levels, window);
  });
}

/** Plays steps [from, to) of a plan, the server idle at first; false when a request was late. */
export function playSteps(
  { log, ...replay }: Replay,
  { levels, from, to, ...trace }: PlayTrace & Pick<Plan, "levels"> & {
    readonly from: number;
    readonly to: number;
  },
): boolean {
  const { grid } = replay;
  return playLog(log, {
    ...replay,
    quotaOf: (period) => (levels[grid.stepOf[period] as number] as number) * LEVEL_MS,
    fromPeriod: grid.firstPeriod[from] as number,
    untilMs: Math.min(log.durationMs, to * grid.stepMs),
  }, trace);
}

/** Windows in which requests were late; those that share their start are one. */
function lateWindows(replay: Replay, levels: Uint16Array): Window[] {
  const { log, grid, due } = replay;
  const doneMs = new Float64Array(log.atMs.length).fill(Infinity);
  const throttled = new Uint8Array(grid.periods);
  playSteps(replay, { levels, from: 0, to: grid.steps, doneMs, throttled });
  const windows = new Map<number, Window>();
  due.dueMs.forEach((latest, index) => {
    if (latest > log.durationMs || !((doneMs[index] as number) > latest + LATE_SLACK_MS)) return;
    let from = periodAt(grid, log.atMs[index] as number);
    const earliest = Math.max(0, from - LONGEST_STREAK);
    while (from > earliest && throttled[from - 1] === 1) from--;
    // A queue that lasts is looked at piece by piece.
    if (from === earliest) from -= from % LONGEST_STREAK;
    const to = Math.max(periodAt(grid, latest), windows.get(from)?.to ?? 0);
    windows.set(from, { from, to });
  });
  return [...windows.values()];
}

/**
 * The first step of the window that has less than the whole of it needs, at that level; the first of
 * the lowest, a little higher, where each has as much. One step at a time: a queue that lasts is
 * better ended where it began than served faster as long as it lasts.
 */
function raisedStep(replay: Replay, levels: Uint16Array, window: Window): Cut {
  const { stepOf } = replay.grid;
  const first = stepOf[window.from] as number;
  const lowest = Math.min(...levels.subarray(first, (stepOf[window.to] as number) + 1));
  const alone = leastLevel(replay, { window, above: lowest });
  const level = Math.min(replay.ceiling, Math.max(alone, lowest + 1));
  let step = first;
  if (lowest < level) { while ((levels[step] as number) >= level) step++; }
  // All of it is at the ceiling: what is carried into it came from a step before that is not.
  else while (step > 0 && (levels[step] as number) >= level) step--;
  return { first: step, last: step, level };
}

/**
 * The least level from `above` on at which an idle server serves the window alone in time; the ceiling
 * does by the definition of what is due.
 */
function leastLevel(
  { log, ...replay }: Replay,
  { window, above }: { readonly window: Window; readonly above: number },
): number {
  const { grid, due, ceiling } = replay;
  const suffices = (level: number): boolean =>
    playLog(log, {
      ...replay,
      quotaOf: () => level * LEVEL_MS,
      fromPeriod: window.from,
      untilMs: grid.startMs[window.to + 1] as number,
    }, { stopAfterMs: due.dueMs });
  if (suffices(above)) return above;
  // Doubling strides first: the answer is mostly near.
  let tooLow = above;
  let stride = 1;
  while (tooLow + stride < ceiling && !suffices(tooLow + stride)) {
    tooLow += stride;
    stride *= 2;
  }
  return leastBetween({ tooLow, enough: Math.min(ceiling, tooLow + stride) }, suffices);
}

/** The least level above `tooLow` that suffices, by bisection; `enough` does. */
export function leastBetween(
  { tooLow, enough }: { readonly tooLow: number; readonly enough: number },
  suffices: (level: number) => boolean,
): number {
  let [low, high] = [tooLow, enough];
  while (high - low > 1) {
    const level = (high + low) >> 1;
    if (suffices(level)) high = level;
    else low = level;
  }
  return high;
}

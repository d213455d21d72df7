/**
 * Looks for late requests in a replay of a plan, and says which levels would have held them.
 *
 * A request is late for what came since the quota last sufficed. That window, served alone by an idle
 * server, needs some least constant quota: so does every segment that holds it, for requests left
 * out make none later. Such a finding is true of all plans under ideal control, and nearly so on the
 * node. Where a window lies across a change of the limit, or an idle start hides what was carried
 * into it, a plan is held to a little more than it strictly needs.
 *
 * @module
 */
import { type DueWork, periodAt } from "./due_work.ts";
import { type Cut, LEVEL_MS, type LevelBounds } from "./level_table.ts";
import type { PeriodGrid, RequestLog } from "./request_log.ts";
import { firstRequestAt, LATE_SLACK_MS, type Serve, type ServerSpec } from "./serve_log.ts";

/** Periods before a window in which an idle server comes to what is under way when it begins. */
const WARM_UP = 4;
/**
 * The same in steps, before a stretch of a plan that is replayed alone, and steps looked at after it.
 */
const AROUND = 3;

/** Periods without enough quota that are looked at together. */
const LONGEST_STREAK = 50;

/** What is replayed, and with what. */
export interface ReplayOptions extends ServerSpec, LevelBounds {
  readonly serve: Serve;
  readonly grid: PeriodGrid;
  readonly due: DueWork;
}

/** What a replay found. Both are empty when no request was late. */
export interface Findings {
  /** Hold for every plan, if the replay is ideal. */
  readonly needed: readonly Cut[];
  /** Keep this plan from being late where nothing is known that holds for every plan. */
  readonly cautious: readonly Cut[];
  /** Requests that were late where it looked. */
  readonly late: number;
}

/** How a plan came about. */
export interface Segmentation {
  /** First step of each segment, ascending; of two that are equal the first segment is empty. */
  readonly starts: readonly number[];
  /** Least number of levels by which cautious findings raise. */
  readonly stride: number;
}

/** Periods from the first to the last. */
interface Window {
  readonly from: number;
  readonly to: number;
}

/**
 * Replays plans, each given as one level per step. What differs from the plan before is replayed
 * first; only when no request is late there, all of it.
 */
export function cutFinder(
  log: RequestLog,
  options: ReplayOptions,
): (levels: Uint16Array, segmentation: Segmentation) => Findings {
  const { grid } = options;
  const doneMs = new Float64Array(log.atMs.length);
  const throttled = new Uint8Array(grid.periods);
  const replay: Replay = { log, options, doneMs, throttled };
  let before: Uint16Array | undefined;

  return (levels, { starts, stride }) => {
    const segmentOf = new Int32Array(grid.steps);
    starts.forEach((from, index) => segmentOf.fill(from, from, starts[index + 1] ?? grid.steps));
    const changed = before === undefined ? [] : changedStretches(before, levels);
    before = levels.slice();
    let windows = changed.flatMap((stretch) => lateWindows(replay, levels, stretch));
    if (windows.length === 0) {
      windows = lateWindows(replay, levels, { from: 0, to: grid.steps });
    }
    const needed: Cut[] = [];
    const cautious: Cut[] = [];
    for (const late of windows) {
      const { first, last } = stepsOf(grid, narrowed(replay, levels, late));
      // A cut that has the step has all of it: what it leaves under way counts too.
      const window = { from: grid.firstPeriod[first] as number, to: late.to };
      const present = levels[last] as number;
      const level = leastLevel(replay, { window, above: present });
      if (segmentOf[first] === segmentOf[last] && level > present) {
        needed.push({ first, last, level });
      } else {
        cautious.push(raisedStep(replay, levels, { window, stride }));
      }
    }
    return { needed, cautious, late: windows.reduce((sum, { late }) => sum + late, 0) };
  };
}

/** A window with so many late requests. */
interface LateWindow extends Window {
  readonly late: number;
}

interface Replay {
  readonly log: RequestLog;
  readonly options: ReplayOptions;
  readonly doneMs: Float64Array;
  readonly throttled: Uint8Array;
}

/** Steps [from, to). */
interface Stretch {
  readonly from: number;
  readonly to: number;
}

function changedStretches(before: Uint16Array, levels: Uint16Array): Stretch[] {
  const stretches: { from: number; to: number }[] = [];
  levels.forEach((level, step) => {
    if (level === before[step]) return;
    const last = stretches.at(-1);
    if (last !== undefined && step <= last.to + AROUND) last.to = step + 1;
    else stretches.push({ from: step, to: step + 1 });
  });
  return stretches;
}

/** Windows in which requests were late; those that share their start are one. */
function lateWindows(
  { log, options, doneMs, throttled }: Replay,
  levels: Uint16Array,
  { from, to }: Stretch,
): LateWindow[] {
  const { grid, due, threads, cores, serve } = options;
  const { firstPeriod, startMs, stepMs, stepOf } = grid;
  const fromPeriod = firstPeriod[Math.max(0, from - AROUND)] as number;
  const untilMs = Math.min(log.durationMs, (to + AROUND) * stepMs);
  const first = firstRequestAt(log, startMs[fromPeriod] as number);
  const end = firstRequestAt(log, untilMs);
  doneMs.fill(Infinity, first, end);
  throttled.fill(0, fromPeriod, periodAt(grid, untilMs) + 1);
  const quotaOf = (period: number): number =>
    (levels[stepOf[period] as number] as number) * LEVEL_MS;
  serve(log, { threads, cores, grid, quotaOf, fromPeriod, untilMs }, { doneMs, throttled });

  const windows = new Map<number, LateWindow>();
  for (let index = first; index < end; index++) {
    const latest = due.dueMs[index] as number;
    if (latest > untilMs || !((doneMs[index] as number) > latest + LATE_SLACK_MS)) continue;
    let start = periodAt(grid, log.atMs[index] as number);
    const earliest = Math.max(fromPeriod, start - LONGEST_STREAK);
    while (start > earliest && throttled[start - 1] === 1) start--;
    // A queue that lasts is looked at piece by piece.
    if (start === earliest) start -= start % LONGEST_STREAK;
    const known = windows.get(start);
    const last = Math.max(periodAt(grid, latest), known?.to ?? 0);
    const late = 1 + (known?.late ?? 0);
    windows.set(start, { from: Math.max(0, start - WARM_UP), to: last, late });
  }
  return [...windows.values()];
}

function stepsOf({ stepOf }: PeriodGrid, { from, to }: Window): { first: number; last: number } {
  return { first: stepOf[from] as number, last: stepOf[to] as number };
}

/** The shortest end of a window in which, served alone under the plan, someone is late. */
function narrowed(replay: Replay, levels: Uint16Array, { from, to }: Window): Window {
  const { stepOf } = replay.options.grid;
  const quotaOf = (period: number): number =>
    (levels[stepOf[period] as number] as number) * LEVEL_MS;
  // Later starts leave requests out, and make none later: the last start that shows it is sought.
  let shows = from;
  let tooLate = to + 1;
  while (tooLate - shows > 1) {
    const start = (shows + tooLate) >> 1;
    if (inTime(replay, { from: start, to }, quotaOf)) tooLate = start;
    else shows = start;
  }
  return { from: shows, to };
}

/** Whether an idle server serves the window alone in time. */
function inTime(
  { log, options }: Replay,
  { from, to }: Window,
  quotaOf: (period: number) => number,
): boolean {
  const { grid, due, threads, cores, serve } = options;
  const untilMs = grid.startMs[to + 1] as number;
  return serve(log, { threads, cores, grid, quotaOf, fromPeriod: from, untilMs }, {
    stopAfterMs: due.dueMs,
  });
}

/**
 * The first step of the window that has less than the whole of it needs, at that level; the first of
 * the lowest, a little higher, where each has as much. One step at a time: a queue that lasts is
 * better ended where it began than served faster as long as it lasts.
 */
function raisedStep(
  replay: Replay,
  levels: Uint16Array,
  { window, stride }: { readonly window: Window; readonly stride: number },
): Cut {
  const { first, last } = stepsOf(replay.options.grid, window);
  const lowest = Math.min(...levels.subarray(first, last + 1));
  const alone = leastLevel(replay, { window, above: lowest });
  const level = Math.min(replay.options.ceiling, Math.max(alone, lowest + stride));
  let step = first;
  if (lowest < level) { while ((levels[step] as number) >= level) step++; }
  // All of it is at the ceiling: what is carried into it came from a step before that is not.
  else while (step > 0 && (levels[step] as number) >= level) step--;
  return { first: step, last: step, level };
}

/**
 * The least level from `above` on that serves the window alone in time, by bisection; the ceiling
 * does by the definition of what is due.
 */
function leastLevel(
  replay: Replay,
  { window, above }: { readonly window: Window; readonly above: number },
): number {
  const { ceiling } = replay.options;
  const suffices = (level: number): boolean => inTime(replay, window, () => level * LEVEL_MS);
  if (suffices(above)) return above;
  // Doubling strides first: the answer is mostly near.
  let tooLow = above;
  let stride = 1;
  while (tooLow + stride < ceiling && !suffices(tooLow + stride)) {
    tooLow += stride;
    stride *= 2;
  }
  let enough = Math.min(ceiling, tooLow + stride);
  while (enough - tooLow > 1) {
    const level = (enough + tooLow) >> 1;
    if (suffices(level)) enough = level;
    else tooLow = level;
  }
  return enough;
}

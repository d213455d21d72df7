/**
 * The deadlines of a log's requests, and from them, period by period, how much work any plan must
 * have done and how much it can have done.
 *
 * @module
 */
import { PERIOD_MS, type PeriodGrid, type RequestLog } from "./request_log.ts";
import { LATE_SLACK_MS, type Serve, type ServerSpec } from "./serve_log.ts";

/** What a plan has to hold to. */
export interface DueWork {
  /**
   * Latest that each request may be done, ms: arrival + cost + d; for one that is later even under
   * the ceiling the time at which the ceiling has it done. Infinity when that is after the run.
   */
  readonly dueMs: Float64Array;
  /** Requests that are late under the ceiling, hence under any plan. */
  readonly unavoidable: number;
  /** CPU ms that are due before period p ends. */
  readonly dueBefore: Float64Array;
  /** The most that any plan has done when period p starts, CPU ms: what the ceiling has. */
  readonly doneBefore: Float64Array;
  /**
   * Quota, ms per period, that each step needs to be like the ceiling while a request is there that
   * is late even then; 0 in the others.
   */
  readonly likeCeiling: Float64Array;
}

/** What the work is to be done with. */
export interface DueWorkOptions extends ServerSpec {
  readonly grid: PeriodGrid;
  /** ms that a request may wait beyond its own work. */
  readonly sloMs: number;
  /** How the ceiling is replayed. */
  readonly serve: Serve;
  /** Quota under the ceiling, ms per period. */
  readonly ceilingMs: number;
}

/** Serves the log once under the ceiling and writes down what is due when. */
export function dueWork(log: RequestLog, options: DueWorkOptions): DueWork {
  const { grid, sloMs, ceilingMs, serve } = options;
  const { atMs, costMs, durationMs } = log;
  const { periods } = grid;
  const count = atMs.length;
  const doneMs = new Float64Array(count).fill(Infinity);
  const usedMs = new Float64Array(periods);
  serve(log, { ...options, quotaOf: () => ceilingMs, untilMs: durationMs }, { doneMs, usedMs });

  const dueMs = new Float64Array(count);
  const dueBefore = new Float64Array(periods);
  // +1 at the first step that such a request sees, −1 after the last.
  const lateIn = new Int32Array(grid.steps + 1);
  let unavoidable = 0;
  for (let index = 0; index < count; index++) {
    const at = atMs[index] as number;
    const cost = costMs[index] as number;
    const done = doneMs[index] as number;
    let due = at + cost + sloMs;
    if (done > due + LATE_SLACK_MS && due <= durationMs) {
      unavoidable++;
      (lateIn[stepAt(grid, at)] as number)++;
      (lateIn[stepAt(grid, Math.min(done, durationMs)) + 1] as number)--;
      due = done;
    }
    if (due > durationMs) {
      dueMs[index] = Infinity;
      continue;
    }
    dueMs[index] = due;
    (dueBefore[periodAt(grid, due)] as number) += cost;
  }
  const doneBefore = new Float64Array(periods + 1);
  for (let period = 0; period < periods; period++) {
    (dueBefore[period] as number) += period === 0 ? 0 : dueBefore[period - 1] as number;
    doneBefore[period + 1] = (doneBefore[period] as number) + (usedMs[period] as number);
  }
  const likeCeiling = new Float64Array(grid.steps);
  for (let step = 0, there = 0; step < grid.steps; step++) {
    there += lateIn[step] as number;
    if (there === 0) continue;
    const [first, end] = [grid.firstPeriod[step] as number, grid.firstPeriod[step + 1] as number];
    likeCeiling[step] = usedMs.subarray(first, end).reduce((most, used) => Math.max(most, used), 0);
  }
  return { dueMs, unavoidable, dueBefore, doneBefore, likeCeiling };
}

function stepAt(grid: PeriodGrid, ms: number): number {
  return grid.stepOf[periodAt(grid, ms)] as number;
}

/** The period in which a time of the run lies; one at a refill belongs to the period before. */
export function periodAt({ startMs, periods }: PeriodGrid, ms: number): number {
  const first = startMs[1] as number;
  if (ms <= first) return 0;
  const period = Math.ceil((ms - first) / PERIOD_MS);
  return Math.min(period, periods - 1);
}

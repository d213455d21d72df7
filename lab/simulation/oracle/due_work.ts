/**
 * The deadlines of a log's requests, and from them, period by period, how much work any plan must
 * have done and how much it can have done.
 *
 * @module
 */
import { LATE_SLACK_MS, playLog, type ServerSpec } from "./play_log.ts";
import { PERIOD_MS, type PeriodGrid, type RequestLog } from "./request_log.ts";

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

/** The server, its ceiling and the SLO. */
export interface DueWorkOptions extends ServerSpec {
  readonly grid: PeriodGrid;
  /** ms that a request may wait beyond its own work. */
  readonly sloMs: number;
  /** Quota under the ceiling, ms per period. */
  readonly ceilingMs: number;
}

/** Plays the log once under the ceiling and writes down what is due when. */
export function dueWork(log: RequestLog, options: DueWorkOptions): DueWork {
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

/**
 * Serves a log of requests under ideal CFS bandwidth control: FIFO queue, threads that run equally
 * fast, a quota per period that is taken continuously and holds all threads at once when it is used
 * up; a new quota counts from the next refill. It reports each request when it was done.
 *
 * It is for proofs. What a plan is worth is found on the node model (`play_log.ts`), where CPUs take
 * quota in slices of 5 ms and are held one by one at their ticks.
 *
 * More quota in any period never makes any request later. At the start of a period every request
 * is as far or further; while no quota has run out, no more requests are open, so no more quota is
 * used; hence the larger quota runs out no earlier. The same holds when requests are left out.
 *
 * @module
 */
import { PERIOD_MS, type PeriodGrid } from "./period_grid.ts";
import type { RequestLog } from "./request_log.ts";

/** The server. */
export interface ServerSpec {
  /** Requests worked on at once. */
  readonly threads: number;
  /** CPUs of the node, which all threads together cannot exceed. */
  readonly cores: number;
}

/** What is served, and how. */
export interface ServeOptions extends ServerSpec {
  readonly grid: PeriodGrid;
  /** Quota of a period, ms. */
  readonly quotaOf: (period: number) => number;
  /** Period with which it begins, the server idle. @default {0} */
  readonly fromPeriod?: number;
  /** It ends when this time is reached, ms. @default {Infinity} */
  readonly untilMs?: number;
}

/** Where the outcome is written. All that is absent is not written. */
export interface ServeTrace {
  /** When each request was done, ms; those that were not keep what is there. */
  readonly doneMs?: Float64Array;
  /** CPU used in each period, ms. */
  readonly usedMs?: Float64Array;
  /** 1 where a period ended with requests that its quota did not reach. */
  readonly throttled?: Uint8Array;
  /** Latest that each request may be done, ms; serving ends at the first that is later. */
  readonly stopAfterMs?: Float64Array;
}

/** Serves a log, ideally as {@linkcode serveLog} or on the node model; false when one was late. */
export type Serve = (log: RequestLog, options: ServeOptions, trace: ServeTrace) => boolean;

/** ms; completions and quotas closer than this are one, as on the node. */
const EPSILON = 1e-9;
/** ms; rounding of sums over a long run, far below what matters. */
export const LATE_SLACK_MS = 1e-6;

/** Index of the first request that comes at `ms` or later. */
export function firstRequestAt({ atMs }: RequestLog, ms: number): number {
  let low = 0;
  let high = atMs.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((atMs[middle] as number) < ms) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Serves the requests from the start of `fromPeriod` on. Returns false when a request was not done
 * by its `stopAfterMs`. After the grid's last period the quota of that one
 * stays.
 */
// deno-lint-ignore house/function-length
export function serveLog(
  log: RequestLog,
  options: ServeOptions,
  { doneMs, usedMs, throttled, stopAfterMs }: ServeTrace,
): boolean {
  const { atMs, costMs } = log;
  const { threads, cores, grid, quotaOf, fromPeriod = 0, untilMs = Infinity } = options;
  const { startMs, periods } = grid;
  const count = atMs.length;
  const finish = new Float64Array(threads);
  const request = new Int32Array(threads);
  let busy = 0;
  let served = 0;
  let nextFinish = Infinity;
  let period = fromPeriod;
  let now = startMs[period] as number;
  let periodEnd = startMs[period + 1] as number;
  let quota = quotaOf(period);
  let left = quota;
  let head = firstRequestAt(log, now);

  const overdue = (latest: Float64Array, at: number): boolean => {
    const isLate = (index: number) => at >= (latest[index] as number);
    for (let thread = 0; thread < busy; thread++) {
      if (isLate(request[thread] as number)) return true;
    }
    for (let index = head; index < count && (atMs[index] as number) < at; index++) {
      if (isLate(index)) return true;
    }
    return false;
  };

  const closePeriod = (): void => {
    if (period >= periods) return;
    if (usedMs !== undefined) usedMs[period] = quota - left;
    if (throttled !== undefined) throttled[period] = left <= EPSILON && busy > 0 ? 1 : 0;
  };

  for (;;) {
    while (head < count && busy < threads && (atMs[head] as number) <= now + EPSILON) {
      if (busy === 0) served = 0;
      const ends = served + (costMs[head] as number);
      finish[busy] = ends;
      request[busy] = head;
      if (ends < nextFinish) nextFinish = ends;
      busy++;
      head++;
    }
    let until = periodEnd;
    let rate = 0;
    // Lengths, not ends, lest a remainder below the resolution of late times hold up the loop.
    let length = Infinity;
    if (head < count && busy < threads && (atMs[head] as number) < until) {
      until = atMs[head] as number;
    }
    if (busy > 0 && left > EPSILON) {
      rate = busy < cores ? busy : cores;
      const completion = (nextFinish - served) * busy / rate;
      const exhaustion = left / rate;
      length = completion < exhaustion ? completion : exhaustion;
    } else if (busy === 0 && head === count) {
      closePeriod();
      return true;
    }
    if (length < until - now) {
      now += length;
    } else {
      length = until - now;
      now = until;
    }
    if (rate > 0) {
      left -= rate * length;
      served += rate * length / busy;
    }
    if (rate > 0 && nextFinish <= served + EPSILON) {
      nextFinish = Infinity;
      for (let thread = 0; thread < busy;) {
        const ends = finish[thread] as number;
        if (ends <= served + EPSILON) {
          const index = request[thread] as number;
          if (doneMs !== undefined) doneMs[index] = now;
          if (stopAfterMs !== undefined && now > (stopAfterMs[index] as number) + LATE_SLACK_MS) {
            return false;
          }
          busy--;
          finish[thread] = finish[busy] as number;
          request[thread] = request[busy] as number;
        } else {
          if (ends < nextFinish) nextFinish = ends;
          thread++;
        }
      }
    }
    if (now >= periodEnd) {
      closePeriod();
      if (now >= untilMs) return stopAfterMs === undefined || !overdue(stopAfterMs, now);
      period++;
      periodEnd = period < periods ? startMs[period + 1] as number : periodEnd + PERIOD_MS;
      quota = quotaOf(Math.min(period, periods - 1));
      left = quota;
    }
  }
}

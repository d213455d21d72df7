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
import { PERIOD_MS, type PeriodGrid, type RequestLog } from "./request_log.ts";

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

/** When requests were done, and the latest that they may be; ms. */
interface Outcome {
  readonly doneMs: Float64Array | undefined;
  readonly latest: Float64Array | undefined;
}

/** The requests that are worked on: threads that run equally fast. */
class BusyThreads {
  busy = 0;
  /** CPU ms that each thread got since last there was none. */
  served = 0;
  nextFinish = Infinity;
  readonly #finish: Float64Array;
  readonly #request: Int32Array;
  readonly #doneMs: Float64Array | undefined;
  readonly #latest: Float64Array | undefined;

  constructor(threads: number, { doneMs, latest }: Outcome) {
    this.#doneMs = doneMs;
    this.#latest = latest;
    this.#finish = new Float64Array(threads);
    this.#request = new Int32Array(threads);
  }

  start(request: number, costMs: number): void {
    if (this.busy === 0) this.served = 0;
    const ends = this.served + costMs;
    this.#finish[this.busy] = ends;
    this.#request[this.busy] = request;
    if (ends < this.nextFinish) this.nextFinish = ends;
    this.busy++;
  }

  /** Ends the requests that have been served; false, and no more of them, at one that is late. */
  end(now: number): boolean {
    this.nextFinish = Infinity;
    for (let thread = 0; thread < this.busy;) {
      const ends = this.#finish[thread] as number;
      if (ends > this.served + EPSILON) {
        if (ends < this.nextFinish) this.nextFinish = ends;
        thread++;
        continue;
      }
      const index = this.#request[thread] as number;
      if (this.#doneMs !== undefined) this.#doneMs[index] = now;
      if (now > (this.#latest?.[index] ?? Infinity) + LATE_SLACK_MS) return false;
      this.busy--;
      this.#finish[thread] = this.#finish[this.busy] as number;
      this.#request[thread] = this.#request[this.busy] as number;
    }
    return true;
  }

  /** Whether one of them should be done at `now`. */
  isOverdue(now: number): boolean {
    return this.#request.subarray(0, this.busy).some((index) =>
      now >= (this.#latest?.[index] ?? Infinity)
    );
  }
}

/**
 * Serves the requests from the start of `fromPeriod` on. Returns false when a request was not done
 * by its `stopAfterMs`. After the grid's last period the quota of that one
 * stays.
 */
export function serveLog(
  log: RequestLog,
  options: ServeOptions,
  { doneMs, usedMs, throttled, stopAfterMs }: ServeTrace,
): boolean {
  const { atMs, costMs } = log;
  const { threads, cores, grid, quotaOf, fromPeriod = 0, untilMs = Infinity } = options;
  const { startMs, periods } = grid;
  const count = atMs.length;
  const running = new BusyThreads(threads, { doneMs, latest: stopAfterMs });
  let period = fromPeriod;
  let now = startMs[period] as number;
  let periodEnd = startMs[period + 1] as number;
  let quota = quotaOf(period);
  let left = quota;
  let head = firstRequestAt(log, now);

  const closePeriod = (): void => {
    if (period >= periods) return;
    if (usedMs !== undefined) usedMs[period] = quota - left;
    if (throttled !== undefined) throttled[period] = left <= EPSILON && running.busy > 0 ? 1 : 0;
  };

  for (;;) {
    while (head < count && running.busy < threads && (atMs[head] as number) <= now + EPSILON) {
      running.start(head, costMs[head] as number);
      head++;
    }
    const { busy } = running;
    if (busy === 0 && head === count) {
      closePeriod();
      return true;
    }
    const arrives = head < count && busy < threads ? atMs[head] as number : Infinity;
    const until = arrives < periodEnd ? arrives : periodEnd;
    const rate = busy === 0 || left <= EPSILON ? 0 : busy < cores ? busy : cores;
    // Lengths, not ends, lest a remainder below the resolution of late times hold up the loop.
    const completion = (running.nextFinish - running.served) * busy / rate;
    let length = rate === 0 ? Infinity : Math.min(completion, left / rate);
    if (length < until - now) now += length;
    else {
      length = until - now;
      now = until;
    }
    if (rate > 0) {
      left -= rate * length;
      running.served += rate * length / busy;
      if (running.nextFinish <= running.served + EPSILON && !running.end(now)) return false;
    }
    if (now < periodEnd) continue;
    closePeriod();
    if (now >= untilMs) {
      if (stopAfterMs === undefined) return true;
      const waiting = stopAfterMs.subarray(head, firstRequestAt(log, now));
      return !running.isOverdue(now) && !waiting.some((latest) => now >= latest);
    }
    period++;
    periodEnd = period < periods ? startMs[period + 1] as number : periodEnd + PERIOD_MS;
    quota = quotaOf(Math.min(period, periods - 1));
    left = quota;
  }
}

/**
 * The requests of a whole run, written down before it (what an algorithm that knows the future knows),
 * the periods in which quotas are refilled, and plays of the requests on the simulated node under the
 * limits of a plan: what the plan's limits are worth there is what they are worth in a run, to the request.
 *
 * A plan may be played from the middle on, with nothing under way. The node begins a little earlier
 * then, where its CPUs' ticks lie in the periods as they do in the whole run.
 *
 * @module
 */
import { seededRandom } from "../../../shared/random.ts";
import { SimulatedNode } from "../node/simulated_node.ts";
import type { ArrivalProcess } from "../node/request_server.ts";

/** Requests in the order of their coming. */
export interface RequestLog {
  /** When each comes, ms of virtual time. */
  readonly atMs: Float64Array;
  /** CPU time that each costs, ms; finite. */
  readonly costMs: Float64Array;
  /** Length of the run, ms; every request comes before. */
  readonly durationMs: number;
}

/** Work of a thread that never ends is written down in pieces of this many ms. */
const PIECE_MS = 10;

/**
 * Writes down the requests that come before `durationMs`. A request that never ends stands for a
 * busy thread: work that comes at 1 ms per ms, written as a piece of 10 ms each 10 ms from its start
 * to the end of the run. The stream is used up.
 */
export function readRequestLog(arrivals: ArrivalProcess, durationMs: number): RequestLog {
  let atMs = new Float64Array(1024);
  let costMs = new Float64Array(1024);
  let count = 0;
  const endless: number[] = [];
  for (; arrivals.nextAt < durationMs; arrivals.next()) {
    const { nextAt, nextCost } = arrivals;
    if (nextCost === Infinity) {
      endless.push(nextAt);
      continue;
    }
    if (count === atMs.length) {
      atMs = grown(atMs);
      costMs = grown(costMs);
    }
    atMs[count] = nextAt;
    costMs[count] = nextCost;
    count++;
  }
  const log = { atMs: atMs.slice(0, count), costMs: costMs.slice(0, count), durationMs };
  return endless.length === 0 ? log : withPieces(log, endless);
}

function grown(values: Float64Array): Float64Array<ArrayBuffer> {
  const twice = new Float64Array(2 * values.length);
  twice.set(values);
  return twice;
}

function withPieces(log: RequestLog, endless: readonly number[]): RequestLog {
  const { durationMs } = log;
  const all = Array.from(log.atMs, (at, index) => ({ at, cost: log.costMs[index] ?? 0 }));
  for (const from of endless) {
    for (let piece = 0; from + piece * PIECE_MS < durationMs; piece++) {
      const at = from + piece * PIECE_MS;
      all.push({ at, cost: Math.min(PIECE_MS, durationMs - at) });
    }
  }
  all.sort((a, b) => a.at - b.at);
  return {
    atMs: Float64Array.from(all, ({ at }) => at),
    costMs: Float64Array.from(all, ({ cost }) => cost),
    durationMs,
  };
}

/** The requests from the `first` on as a stream; its times begin at `originMs` of the log's. */
export function arrivalsOf(
  { atMs, costMs }: RequestLog,
  { first = 0, originMs = 0 }: { readonly first?: number; readonly originMs?: number } = {},
): ArrivalProcess {
  let index = first;
  return {
    nextAt: (atMs[index] ?? Infinity) - originMs,
    nextCost: costMs[index] ?? 0,
    next() {
      index++;
      this.nextAt = (atMs[index] ?? Infinity) - originMs;
      this.nextCost = costMs[index] ?? 0;
    },
  };
}

/** Length of a CFS period, ms: the kubelet's. */
export const PERIOD_MS = 100;

/** The periods of a run. */
export interface PeriodGrid {
  readonly periods: number;
  /** Steps of the plan. */
  readonly steps: number;
  readonly stepMs: number;
  /** Start of period p, ms; `startMs[periods]` is not before the end of the run. */
  readonly startMs: Float64Array;
  /** First period of step s; `firstPeriod[steps]` = `periods`. */
  readonly firstPeriod: Int32Array;
  /** Step of period p. */
  readonly stepOf: Int32Array;
}

/** The grid of a run: steps are multiples of the period, in which quotas are refilled at the phase. */
export function periodGrid(
  { durationMs, stepMs, phaseMs }: Readonly<Record<"durationMs" | "stepMs" | "phaseMs", number>>,
): PeriodGrid {
  const partial = phaseMs > 0 ? 1 : 0;
  const periods = partial + Math.max(0, Math.ceil((durationMs - phaseMs) / PERIOD_MS));
  const startMs = Float64Array.from(
    { length: periods + 1 },
    (_, period) => Math.max(0, phaseMs + (period - partial) * PERIOD_MS),
  );
  const steps = Math.ceil(durationMs / stepMs);
  const stepOf = new Int32Array(periods);
  const firstPeriod = new Int32Array(steps + 1).fill(periods);
  for (let period = periods - 1; period >= 0; period--) {
    const step = Math.floor((startMs[period] as number) / stepMs);
    stepOf[period] = step;
    firstPeriod[step] = period;
  }
  // A last step too short for a refill of its own keeps the limit before it.
  return { periods, steps, stepMs, startMs, firstPeriod, stepOf };
}

/** The pod that serves the log, and its node. */
export interface ServerSpec {
  /** Requests worked on at once. */
  readonly threads: number;
  /** CPUs of the node, which all threads together cannot exceed. */
  readonly cores: number;
  /** The pod's, which places the CPUs' ticks in its periods. */
  readonly uid: string;
}

/** The server, its quotas and the periods to play. */
export interface PlayOptions extends ServerSpec {
  readonly grid: PeriodGrid;
  /** Quota of a period, ms; in force from the beginning of the period's step. */
  readonly quotaOf: (period: number) => number;
  /** Period with which it begins, the server idle. @default {0} */
  readonly fromPeriod?: number;
  /** It ends when this time is reached, ms. @default {Infinity} */
  readonly untilMs?: number;
}

/** Where the outcome is written. All that is absent is not written. */
export interface PlayTrace {
  /** When each request was done, ms; those that were not keep what is there. */
  readonly doneMs?: Float64Array;
  /** CPU used in each period, ms. */
  readonly usedMs?: Float64Array;
  /** 1 for the periods in which a request waited for CPU. */
  readonly throttled?: Uint8Array;
  /** Latest that each request may be done, ms; the play ends at the first that is later. */
  readonly stopAfterMs?: Float64Array;
}

/** ms; rounding of sums over a long run, far below what matters. */
export const LATE_SLACK_MS = 1e-6;
/** Millicores of a quota of 1 ms per period. */
const MILLICORES_PER_MS = 1000 / PERIOD_MS;
/** The least time that both the node's slices (10 ms) and its ticks (4 ms) divide. */
const TICKS_AND_SLICES_MS = 20;
const CONTAINER = "container";

/** Index of the first request that comes at `ms` or later. */
function firstRequestAt({ atMs }: RequestLog, ms: number): number {
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
 * Plays period by period until time is up, all is done or a request is late; false when one was. After
 * the grid's last period the quota of that one stays.
 */
export function playLog(
  log: RequestLog,
  { threads, cores, uid, grid, quotaOf, fromPeriod = 0, untilMs = Infinity }: PlayOptions,
  { doneMs, usedMs, throttled, stopAfterMs }: PlayTrace,
): boolean {
  const { startMs, stepOf, stepMs, periods } = grid;
  const beginMs = startMs[fromPeriod] as number;
  const originMs = beginMs - beginMs % TICKS_AND_SLICES_MS;
  const first = firstRequestAt(log, beginMs);
  const count = log.atMs.length - first;
  const ends = doneMs?.subarray(first) ??
    new Float64Array(firstRequestAt(log, untilMs) - first).fill(Infinity);
  const latest = stopAfterMs?.subarray(first);
  let completed = 0;
  let isLate = false;
  const node = new SimulatedNode({ cores: Math.min(cores, threads), random: seededRandom(1) });
  node.addPod({
    uid,
    phaseMs: ((startMs[fromPeriod + 1] as number) - originMs) % PERIOD_MS,
    containers: [{
      id: CONTAINER,
      request: 100,
      limit: MILLICORES_PER_MS * quotaOf(fromPeriod),
      threads,
      workload: arrivalsOf(log, { first, originMs }),
      onDone(request, atMs) {
        const done = originMs + atMs;
        ends[request] = done;
        completed++;
        if (latest !== undefined && done > latest[request]! + LATE_SLACK_MS) isLate = true;
      },
    }],
  });
  const isOverdue = (endMs: number): boolean =>
    latest?.subarray(0, firstRequestAt(log, endMs) - first)
      .some((ms, index) => ends[index] === Infinity && endMs >= ms) ?? false;

  const measures = usedMs !== undefined || throttled !== undefined;
  let before = measures ? node.pod(uid) : undefined;
  let quota = quotaOf(fromPeriod);
  for (let period = fromPeriod;; period++) {
    const next = Math.min(period + 1, periods - 1);
    if (quotaOf(next) !== quota) {
      // A limit counts at once, not from the next refill on.
      node.advance((stepOf[next] as number) * stepMs - originMs);
      quota = quotaOf(next);
      node.setContainerQuota(CONTAINER, MILLICORES_PER_MS * quota);
      node.setPodQuota(uid, MILLICORES_PER_MS * quota);
    }
    const endMs = period < periods
      ? startMs[period + 1] as number
      : (startMs[periods] as number) + (period + 1 - periods) * PERIOD_MS;
    node.advance(endMs - originMs);
    if (before !== undefined && period < periods) {
      const after = node.pod(uid);
      if (usedMs !== undefined) usedMs[period] = (after.usageUs - before.usageUs) / 1000;
      if (throttled !== undefined) throttled[period] = after.waitedUs > before.waitedUs ? 1 : 0;
      before = after;
    }
    if (isLate) return false;
    if (endMs >= untilMs || completed === count) return !isOverdue(endMs);
  }
}

/**
 * The requests of a whole run, written down before it (what an algorithm that knows the future knows),
 * and the periods in which quotas are refilled.
 *
 * @module
 */
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

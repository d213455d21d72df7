/**
 * The requests of a whole run, written down before it: what an algorithm that knows the future knows.
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

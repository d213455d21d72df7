/**
 * What runs in a container: a FIFO queue of requests and a fixed number of threads, each working on
 * one request at a time. All busy threads run equally fast.
 *
 * @module
 */
import { type LatencyHistogram, recordLatency } from "./latency_histogram.ts";

/** The requests that come to a container, one after the other, whatever becomes of them. */
export interface ArrivalProcess {
  /** Virtual time of the next request, ms; Infinity when there is none any more. */
  nextAt: number;
  /** CPU time that it costs, ms; Infinity for a thread that never ends. */
  nextCost: number;
  /** Goes on to the request after it. */
  next(): void;
}

/** Queue and threads of a container. Fields are read and written by the slice loop. */
export interface RequestServer {
  readonly threads: number;
  readonly arrivals: ArrivalProcess;
  /** Time from arrival to completion of each completed request. */
  readonly latency: LatencyHistogram;
  /** Threads with a request. */
  busy: number;
  /** CPU ms that each busy thread got since the server was last idle. */
  served: number;
  /** The smallest of `finish`; Infinity when idle. */
  nextFinish: number;
  /** `served` at which thread k has done its request, and when that request came. */
  readonly finish: Float64Array;
  readonly since: Float64Array;
  /** Ring buffer of waiting requests; it may hold some of the near future. */
  queueAt: Float64Array;
  queueCost: Float64Array;
  queueHead: number;
  queued: number;
  /** CPU ms of all requests so far, less the start times of never-ending ones. */
  offered: number;
  /** Never-ending requests so far: by time t they offer `endless` × t more, one CPU each. */
  endless: number;
}

/** Two completions closer than this many ms of CPU are one: far above rounding, far below 1 µs. */
const EPSILON = 1e-9;

/** An idle server; its capacity is `threads` requests at a time. */
export function createRequestServer(
  threads: number,
  { arrivals, latency }: { arrivals: ArrivalProcess; latency: LatencyHistogram },
): RequestServer {
  return {
    threads,
    arrivals,
    latency,
    busy: 0,
    served: 0,
    nextFinish: Infinity,
    finish: new Float64Array(threads),
    since: new Float64Array(threads),
    queueAt: new Float64Array(16),
    queueCost: new Float64Array(16),
    queueHead: 0,
    queued: 0,
    offered: 0,
    endless: 0,
  };
}

/** Moves the arrivals before `until` into the queue. */
export function pullArrivals(server: RequestServer, until: number): void {
  const arrivals = server.arrivals;
  while (arrivals.nextAt < until) {
    if (server.queued === server.queueAt.length) growQueue(server);
    // The length is a power of two, so the mask wraps.
    const slot = (server.queueHead + server.queued) & (server.queueAt.length - 1);
    server.queueAt[slot] = arrivals.nextAt;
    server.queueCost[slot] = arrivals.nextCost;
    server.queued++;
    if (arrivals.nextCost === Infinity) {
      server.endless++;
      server.offered -= arrivals.nextAt;
    } else {
      server.offered += arrivals.nextCost;
    }
    arrivals.next();
  }
}

function growQueue(server: RequestServer): void {
  const { queueAt, queueCost, queueHead } = server;
  server.queueAt = new Float64Array(2 * queueAt.length);
  server.queueCost = new Float64Array(2 * queueCost.length);
  server.queueAt.set(queueAt.subarray(queueHead));
  server.queueAt.set(queueAt.subarray(0, queueHead), queueAt.length - queueHead);
  server.queueCost.set(queueCost.subarray(queueHead));
  server.queueCost.set(queueCost.subarray(0, queueHead), queueCost.length - queueHead);
  server.queueHead = 0;
}

/** Virtual time at which a free thread takes the next request; Infinity when none will. */
export function nextStart(server: RequestServer): number {
  if (server.queued === 0 || server.busy === server.threads) return Infinity;
  return server.queueAt[server.queueHead] ?? Infinity;
}

/** Gives free threads the requests that have come by `now`. */
export function startRequests(server: RequestServer, now: number): void {
  while (nextStart(server) <= now + EPSILON) {
    // Counting anew from 0 keeps the sums short, hence exact.
    if (server.busy === 0) server.served = 0;
    const head = server.queueHead;
    const finish = server.served + (server.queueCost[head] ?? 0);
    server.finish[server.busy] = finish;
    server.since[server.busy] = server.queueAt[head] ?? 0;
    if (finish < server.nextFinish) server.nextFinish = finish;
    server.busy++;
    server.queueHead = (head + 1) & (server.queueAt.length - 1);
    server.queued--;
  }
}

/** Ends the requests whose CPU time was served by `now`. */
export function endRequests(server: RequestServer, now: number): void {
  const done = server.served + EPSILON;
  if (server.nextFinish > done) return;
  const { finish, since } = server;
  let nextFinish = Infinity;
  for (let thread = 0; thread < server.busy;) {
    const ends = finish[thread] ?? Infinity;
    if (ends <= done) {
      recordLatency(server.latency, Math.max(0, now - (since[thread] ?? now)));
      server.busy--;
      finish[thread] = finish[server.busy] ?? Infinity;
      since[thread] = since[server.busy] ?? now;
    } else {
      if (ends < nextFinish) nextFinish = ends;
      thread++;
    }
  }
  server.nextFinish = nextFinish;
}

/**
 * The workload of a container: a FIFO queue of requests and a fixed number of threads, each working on
 * one request at a time. Threads run, all equally fast, or are held, or have nothing to do; they stand
 * in this order.
 *
 * @module
 */
import { type LatencyHistogram, recordFailure, recordLatency } from "./latency_histogram.ts";

/** The requests that come to a container, one after the other, whatever becomes of them. */
export interface ArrivalProcess {
  /** Virtual time of the next request, ms; Infinity when there is none any more. */
  nextAt: number;
  /** CPU time that it costs, ms; Infinity for a thread that never ends. */
  nextCost: number;
  /** Goes on to the request after it. */
  next(): void;
}

/**
 * Called when a request is done: its number, counted from 0 in the order in which they come, and the
 * virtual time, ms. The number identifies its arrival and cost.
 */
export type Completion = (request: number, atMs: number) => void;

/** The requests of a server, and the receiver of completions. */
export interface RequestServerOptions {
  readonly arrivals: ArrivalProcess;
  readonly latency: LatencyHistogram;
  readonly onDone?: Completion | undefined;
  /**
   * Clients give up so long after their request came, ms: one that still waits is dropped, and one
   * that is done later counts as failed all the same. @default {Infinity}
   */
  readonly giveUpMs?: number | undefined;
}

/** The receiver of each completion, and what that takes. */
export interface WatchedRequests {
  readonly onDone: Completion;
  /** Number of the request that thread k works on. */
  readonly request: Int32Array;
  begun: number;
}

/** Queue and threads of a container. Fields are read and written by the slice loop. */
export interface RequestServer {
  readonly threads: number;
  readonly arrivals: ArrivalProcess;
  /** Time from arrival to completion of each completed request. */
  readonly latency: LatencyHistogram;
  readonly giveUpMs: number;
  /** Absent: no receiver. */
  readonly watched: WatchedRequests | undefined;
  /** Threads with a request: the first ones. */
  busy: number;
  /** Those of them that are not held by a quota of their own: the first of the first. */
  running: number;
  /** CPU ms that each running thread got since last there was none. */
  served: number;
  /** The smallest of the running threads' `finish`; Infinity without any. */
  nextFinish: number;
  /** `served` at which thread k has done its request; of a held one the CPU ms that it still needs. */
  readonly finish: Float64Array;
  /** When that request came. */
  readonly since: Float64Array;
  /**
   * `served` at which the quota in the slice of thread k's CPU is used up; of one that does not run
   * that quota itself, ms.
   */
  readonly paid: Float64Array;
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
  { arrivals, latency, onDone, giveUpMs = Infinity }: RequestServerOptions,
): RequestServer {
  return {
    threads,
    arrivals,
    latency,
    giveUpMs,
    watched: onDone && { onDone, request: new Int32Array(threads), begun: 0 },
    busy: 0,
    running: 0,
    served: 0,
    nextFinish: Infinity,
    finish: new Float64Array(threads),
    since: new Float64Array(threads),
    paid: new Float64Array(threads),
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

/** Gives free threads the requests that have come by `now`; returns how many now run that did not. */
export function startRequests(server: RequestServer, now: number): number {
  const before = server.running;
  if (server.giveUpMs < Infinity && server.busy < server.threads) dropFailed(server, now);
  while (server.busy < server.threads && isDue(server, now)) {
    // Counting anew from 0 keeps the sums short, hence exact.
    if (server.running === 0) server.served = 0;
    const thread = server.busy++;
    takeRequest(server, thread);
    if (thread !== server.running) swapThreads(server, thread, server.running);
    runThread(server);
  }
  return server.running - before;
}

/** Takes requests from the head of the queue that their clients have given up by `now`. */
function dropFailed(server: RequestServer, now: number): void {
  const { giveUpMs, latency, watched } = server;
  while (server.queued > 0 && now - server.queueAt[server.queueHead]! > giveUpMs) {
    recordFailure(latency, giveUpMs);
    if (watched !== undefined) watched.begun++;
    server.queueHead = (server.queueHead + 1) & (server.queueAt.length - 1);
    server.queued--;
  }
}

/** Takes the head of the queue; `finish` is what it costs. */
function takeRequest(server: RequestServer, thread: number): void {
  const head = server.queueHead;
  server.finish[thread] = server.queueCost[head] ?? 0;
  server.since[thread] = server.queueAt[head] ?? 0;
  const { watched } = server;
  if (watched !== undefined) watched.request[thread] = watched.begun++;
  server.queueHead = (head + 1) & (server.queueAt.length - 1);
  server.queued--;
}

/** The first thread that does not run begins to. */
function runThread(server: RequestServer): void {
  const { finish, paid, running, served } = server;
  finish[running]! += served;
  paid[running]! += served;
  if (finish[running]! < server.nextFinish) server.nextFinish = finish[running]!;
  server.running++;
}

/** Lets the first held thread run on. There has to be one. */
export function releaseThread(server: RequestServer): void {
  if (server.running === 0) server.served = 0;
  runThread(server);
}

/** Stops a running thread that has a request; it is the first held one then. */
export function holdThread(server: RequestServer, thread: number): void {
  const { finish, paid, served } = server;
  const wasNext = finish[thread]! <= server.nextFinish;
  finish[thread]! -= served;
  paid[thread]! -= served;
  server.running--;
  if (thread !== server.running) swapThreads(server, thread, server.running);
  if (wasNext) findNextFinish(server);
}

function findNextFinish(server: RequestServer): void {
  let next = Infinity;
  for (let thread = 0; thread < server.running; thread++) {
    const finish = server.finish[thread]!;
    if (finish < next) next = finish;
  }
  server.nextFinish = next;
}

function swapThreads(
  { finish, since, paid, watched }: RequestServer,
  one: number,
  other: number,
): void {
  const ends = finish[one]!;
  const came = since[one]!;
  const quota = paid[one]!;
  finish[one] = finish[other]!;
  since[one] = since[other]!;
  paid[one] = paid[other]!;
  finish[other] = ends;
  since[other] = came;
  paid[other] = quota;
  if (watched === undefined) return;
  const { request } = watched;
  const number = request[one]!;
  request[one] = request[other]!;
  request[other] = number;
}

/**
 * Ends the requests with CPU time that was served by `now`. A thread for which another one waits goes
 * on with it; the others come to stand right behind the busy ones.
 */
export function endRequests(server: RequestServer, now: number): void {
  const done = server.served + EPSILON;
  const { finish, since, paid, served, watched } = server;
  if (server.giveUpMs < Infinity) dropFailed(server, now);
  const waiting = server.queued > 0;
  let next = Infinity;
  for (let thread = 0; thread < server.running;) {
    const ends = finish[thread]!;
    if (ends <= done) {
      const tookMs = Math.max(0, now - since[thread]!);
      if (tookMs > server.giveUpMs) recordFailure(server.latency, server.giveUpMs);
      else recordLatency(server.latency, tookMs);
      if (watched !== undefined) watched.onDone(watched.request[thread]!, now);
      if (waiting && isDue(server, now)) {
        takeRequest(server, thread);
        finish[thread]! += served;
      } else {
        const quota = paid[thread]! - served;
        const last = --server.running;
        server.busy--;
        if (last === server.busy) {
          // No thread is held: of the request that is done only the quota is left to keep.
          finish[thread] = finish[last]!;
          since[thread] = since[last]!;
          paid[thread] = paid[last]!;
          paid[last] = quota;
          if (watched !== undefined) watched.request[thread] = watched.request[last]!;
        } else {
          paid[thread] = quota;
          if (thread !== last) swapThreads(server, thread, last);
          swapThreads(server, last, server.busy);
        }
      }
    } else {
      if (ends < next) next = ends;
      thread++;
    }
  }
  server.nextFinish = next;
}

function isDue({ queued, queueAt, queueHead }: RequestServer, now: number): boolean {
  return queued > 0 && queueAt[queueHead]! <= now + EPSILON;
}

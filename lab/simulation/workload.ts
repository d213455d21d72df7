/**
 * Requests made from a trace: when they come, and how much CPU each costs.
 *
 * The stream depends on the trace, the options and the random source alone, never on how fast
 * requests are served, so every control algorithm meets the same requests.
 *
 * @module
 */
import { exponential, logNormal, type Random } from "../../shared/random.ts";
import type { ArrivalProcess } from "./node/request_server.ts";
import type { Trace } from "./trace.ts";
import { scaleToMean, scaleToP95 } from "./trace_shape.ts";

/** The size, cost and variation that turn the shape of a trace into a load. */
export interface WorkloadOptions {
  /**
   * Its own source, used by nothing else. The load is scaled so that the trace's mean, or its 95th
   * percentile, is this many CPUs: by the number of requests, or, where their times were recorded,
   * by what each costs. Without either, a trace in cores is taken as it is, and a trace in requests
   * as requests.
   */
  readonly random: Random;
  readonly meanCores?: number;
  readonly p95Cores?: number | undefined;
  /** Mean CPU time of a request, ms; recorded requests that are scaled to CPUs cost what that takes. */
  readonly costMs: number;
  /** Standard deviation / mean of that time (log-normal). @default 1 */
  readonly variation?: number;
  /** Where in the trace the load begins, s; the trace is repeated without end. @default 0 */
  readonly offsetS?: number;
}

/** The load of one container. */
export interface Workload extends ArrivalProcess {
  /** Expected demand at a virtual time in ms: CPUs that would be used if nothing held it back. */
  coresAt(ms: number): number;
}

/**
 * Requests at the times that were recorded, where the trace has them. Else a Poisson process around
 * its rate: constant within steps of up to 1 s, linear between the samples of coarser traces (from
 * one to the next, the last to the first). Throws a RangeError for a cost, variation, offset or
 * scale that makes no sense.
 */
export function createWorkload(trace: Trace, options: WorkloadOptions): Workload {
  const { random, variation = 1, offsetS = 0 } = options;
  const stepMs = trace.stepS * 1000;
  const periodMs = trace.values.length * stepMs;
  const startMs = (offsetS * 1000) % periodMs;
  const { costMs, perMs } = sizeOf(trace, options);
  const rates: Rates = { perMs, stepMs, stepwise: trace.stepS <= 1, startMs };
  // A load scaled to nothing has no requests at all, rather than requests for nothing.
  const nextArrival = costMs === 0
    ? () => Infinity
    : trace.arrivalsMs === undefined
    ? poissonArrivals(rates, random)
    : recordedArrivals(trace.arrivalsMs, { periodMs, startMs });

  const workload: Workload = {
    nextAt: Infinity,
    nextCost: 0,
    next() {
      workload.nextAt = nextArrival();
      if (workload.nextAt === Infinity) return;
      workload.nextCost = variation === 0 ? costMs : logNormal(random, { mean: costMs, variation });
    },
    coresAt: (ms) => rateAt(rates, ms) * costMs,
  };
  workload.next();
  return workload;
}

/** Occupies `threads` threads for ever. */
export function endlessWork(threads: number): Workload {
  let started = 0;
  return {
    nextAt: threads > 0 ? 0 : Infinity,
    nextCost: Infinity,
    next() {
      started++;
      if (started >= threads) this.nextAt = Infinity;
    },
    coresAt: () => threads,
  };
}

/** Mean CPU time of a request, ms, and requests per ms, per step. */
function sizeOf(
  trace: Trace,
  { meanCores, p95Cores, costMs }: WorkloadOptions,
): { costMs: number; perMs: Float64Array } {
  const scaled = meanCores !== undefined
    ? scaleToMean(trace, meanCores)
    : p95Cores !== undefined
    ? scaleToP95(trace, p95Cores)
    : undefined;
  const requests = () => trace.values.map((value) => value / 1000);
  // A CPU is 1 ms of CPU time per ms.
  if (scaled === undefined) {
    const inCores = trace.unit === "cores";
    return { costMs, perMs: inCores ? trace.values.map((value) => value / costMs) : requests() };
  }
  if (trace.arrivalsMs === undefined) {
    return { costMs, perMs: scaled.values.map((value) => value / costMs) };
  }
  return { costMs: 1000 * sum(scaled.values) / sum(trace.values), perMs: requests() };
}

function sum(values: Float64Array): number {
  return values.reduce((a, b) => a + b, 0);
}

/** The time of the next request, ms of virtual time; never smaller than the one before. */
export type NextArrival = () => number;

/** Rates that are repeated without end. */
export interface Rates {
  /** Requests per ms, one per step. */
  readonly perMs: Float64Array;
  readonly stepMs: number;
  /** A rate holds for its step; otherwise it changes linearly to the next, the last to the first. */
  readonly stepwise: boolean;
  /** Where in them virtual time 0 is, ms; before their end. */
  readonly startMs: number;
}

/** The rate at a virtual time, requests per ms. */
function rateAt({ perMs, stepMs, stepwise, startMs }: Rates, ms: number): number {
  const position = (startMs + ms) / stepMs;
  const step = Math.floor(position);
  const from = perMs[step % perMs.length] ?? 0;
  const to = perMs[(step + 1) % perMs.length] ?? 0;
  return stepwise ? from : from + (to - from) * (position - step);
}

/**
 * A Poisson process around rates. Each gap is drawn by inverting the integral of the rate: exact,
 * one draw per request. Infinity where all rates are 0.
 */
function poissonArrivals(rates: Rates, random: Random): NextArrival {
  const { perMs, stepMs, stepwise, startMs } = rates;
  if (!perMs.some((rate) => rate > 0)) return () => Infinity;
  const rateOf = (step: number): number => perMs[step % perMs.length] ?? 0;
  let index = Math.floor(startMs / stepMs);
  /** Position within the step, ms. */
  let within = startMs - index * stepMs;
  /** Virtual time at the beginning of the step, ms. */
  let stepStart = -within;
  return () => {
    let left = exponential(random, 1);
    for (;;) {
      const from = rateOf(index);
      const slope = stepwise ? 0 : (rateOf(index + 1) - from) / stepMs;
      const now = from + slope * within;
      const rest = stepMs - within;
      const ahead = rest * (now + slope * rest / 2);
      if (left < ahead) {
        // The root of now × t + slope × t² / 2 = left, in the form without cancellation.
        within += 2 * left / (now + Math.sqrt(Math.max(0, now * now + 2 * slope * left)));
        return stepStart + within;
      }
      left -= ahead;
      index = (index + 1) % perMs.length;
      within = 0;
      stepStart += stepMs;
    }
  };
}

/**
 * Recorded times, repeated every `periodMs`; virtual time 0 is `startMs` after their start, before
 * the period's end. Infinity where there are none.
 */
function recordedArrivals(
  arrivalsMs: Float64Array,
  { periodMs, startMs }: { readonly periodMs: number; readonly startMs: number },
): NextArrival {
  if (arrivalsMs.length === 0) return () => Infinity;
  const first = arrivalsMs.findIndex((at) => at >= startMs);
  let index = first < 0 ? arrivalsMs.length : first;
  let lapStart = -startMs;
  return () => {
    if (index === arrivalsMs.length) {
      index = 0;
      lapStart += periodMs;
    }
    return lapStart + (arrivalsMs[index++] ?? 0);
  };
}

/** CPUs that the requests of each of the first `seconds` seconds cost. Uses the workload up. */
export function demandPerSecond(workload: Workload, seconds: number): Float64Array {
  const demand = new Float64Array(Math.max(1, seconds));
  for (; workload.nextAt < 1000 * demand.length; workload.next()) {
    demand[Math.floor(workload.nextAt / 1000)]! += workload.nextCost / 1000;
  }
  return demand;
}

/** Expected demand at the middle of each of the first `seconds` seconds, CPUs. */
export function expectedDemand(workload: Pick<Workload, "coresAt">, seconds: number): Float64Array {
  return Float64Array.from(
    { length: Math.max(1, seconds) },
    (_, second) => workload.coresAt(second * 1000 + 500),
  );
}

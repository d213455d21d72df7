/**
 * Requests made from a trace: when they come, and how much CPU each costs.
 *
 * The stream depends on the trace, the options and the random source alone, never on how fast
 * requests are served, so every control algorithm meets the same requests.
 *
 * @module
 */
import { logNormal, type Random } from "../shared/random.ts";
import type { ArrivalProcess } from "./node/request_server.ts";
import type { Trace } from "./trace.ts";
import { scaleToMean, scaleToP95 } from "./trace_shape.ts";
import { poissonArrivals, rateAt, type Rates, recordedArrivals } from "./workload_arrivals.ts";

/** What turns the shape of a trace into a load of a stated size. */
export interface WorkloadOptions {
  /**
   * Its own source, used by nothing else. The load is scaled so that the trace's mean, or its 95th
   * percentile, is this many CPUs: by the number of requests, or, where their times were recorded,
   * by what each costs. Without either, a trace in cores is taken as it is, and a trace in requests
   * as requests.
   */
  readonly random: Random;
  readonly meanCores?: number;
  readonly p95Cores?: number;
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
  if (!(options.costMs > 0 && options.costMs < Infinity)) {
    throw new RangeError(
      `Cannot create a workload: costMs is ${options.costMs}, expected ms above 0`,
    );
  }
  if (!(variation >= 0 && variation < Infinity)) {
    throw new RangeError(`Cannot create a workload: variation is ${variation}, expected 0 or more`);
  }
  if (!(offsetS >= 0 && offsetS < Infinity)) {
    throw new RangeError(`Cannot create a workload: offsetS is ${offsetS}, expected 0 or more`);
  }
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

/** Mean CPU time of a request, ms, and requests per ms, per step. */
function sizeOf(
  trace: Trace,
  { meanCores, p95Cores, costMs }: WorkloadOptions,
): { costMs: number; perMs: Float64Array } {
  if (meanCores !== undefined && p95Cores !== undefined) {
    throw new RangeError(
      `Cannot create a workload: meanCores ${meanCores} and p95Cores ${p95Cores} exclude each other`,
    );
  }
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

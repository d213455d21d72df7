/**
 * Requests drawn from a trace: when they come, and how much CPU each costs.
 *
 * The stream depends on the trace, the options and the random source alone, never on how fast
 * requests are served, so every control law meets the same requests.
 *
 * @module
 */
import { exponential, logNormal, type Random } from "../shared/random.ts";
import type { ArrivalProcess } from "./node/request_server.ts";
import type { Trace } from "./trace.ts";
import { scaleToMean, scaleToP95 } from "./trace_shape.ts";

/** What turns the shape of a trace into a load of a stated size. */
export interface WorkloadOptions {
  /**
   * Its own source, used by nothing else. The load is scaled so that the trace's mean, or its 95th
   * percentile, is this many CPUs. Without either, a trace in cores is taken as it is, and a trace
   * in requests as requests.
   */
  readonly random: Random;
  readonly meanCores?: number;
  readonly p95Cores?: number;
  /** Mean CPU time of a request, ms. */
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
 * A Poisson process around the trace's rate: constant within steps of up to 1 s, linear between the
 * samples of coarser traces (from one to the next, the last to the first). Each gap is drawn by
 * inverting the integral of the rate: exact, one draw per request. Throws a RangeError for a cost or
 * variation that makes no sense.
 */
export function createWorkload(trace: Trace, options: WorkloadOptions): Workload {
  const { random, costMs, variation = 1, offsetS = 0 } = options;
  if (!(costMs > 0 && costMs < Infinity)) {
    throw new RangeError(`Cannot create a workload: costMs is ${costMs}, expected ms above 0`);
  }
  if (!(variation >= 0 && variation < Infinity)) {
    throw new RangeError(`Cannot create a workload: variation is ${variation}, expected 0 or more`);
  }
  if (!(offsetS >= 0 && offsetS < Infinity)) {
    throw new RangeError(`Cannot create a workload: offsetS is ${offsetS}, expected 0 or more`);
  }
  const rates = ratesPerMs(trace, options);
  const stepMs = trace.stepS * 1000;
  const stepwise = trace.stepS <= 1;
  const startMs = (offsetS * 1000) % (rates.length * stepMs);
  const alwaysIdle = !rates.some((rate) => rate > 0);

  let index = Math.floor(startMs / stepMs);
  /** Position within the step, ms. */
  let within = startMs - index * stepMs;
  /** Virtual time at the beginning of the step, ms. */
  let stepStart = -within;

  const rateAt = (step: number): number => rates[step % rates.length] ?? 0;

  function gapEnd(): number {
    let left = exponential(random, 1);
    for (;;) {
      const from = rateAt(index);
      const slope = stepwise ? 0 : (rateAt(index + 1) - from) / stepMs;
      const now = from + slope * within;
      const rest = stepMs - within;
      const ahead = rest * (now + slope * rest / 2);
      if (left < ahead) {
        // The root of now × t + slope × t² / 2 = left, in the form without cancellation.
        within += 2 * left / (now + Math.sqrt(Math.max(0, now * now + 2 * slope * left)));
        return stepStart + within;
      }
      left -= ahead;
      index = (index + 1) % rates.length;
      within = 0;
      stepStart += stepMs;
    }
  }

  const workload: Workload = {
    nextAt: Infinity,
    nextCost: 0,
    next() {
      if (alwaysIdle) return;
      workload.nextAt = gapEnd();
      workload.nextCost = variation === 0 ? costMs : logNormal(random, { mean: costMs, variation });
    },
    coresAt(ms) {
      const position = (startMs + ms) / stepMs;
      const step = Math.floor(position);
      const from = rateAt(step);
      const rate = stepwise ? from : from + (rateAt(step + 1) - from) * (position - step);
      return rate * costMs;
    },
  };
  workload.next();
  return workload;
}

/** The trace as requests per ms. */
function ratesPerMs(trace: Trace, options: WorkloadOptions): Float64Array {
  const { meanCores, p95Cores, costMs } = options;
  if (meanCores !== undefined && p95Cores !== undefined) {
    throw new RangeError(
      `Cannot create a workload: meanCores ${meanCores} and p95Cores ${p95Cores} exclude each other`,
    );
  }
  const inCores = trace.unit === "cores" || meanCores !== undefined || p95Cores !== undefined;
  const scaled = meanCores !== undefined
    ? scaleToMean(trace, meanCores)
    : p95Cores !== undefined
    ? scaleToP95(trace, p95Cores)
    : trace;
  // A CPU is 1 ms of CPU time per ms.
  return scaled.values.map((value) => inCores ? value / costMs : value / 1000);
}

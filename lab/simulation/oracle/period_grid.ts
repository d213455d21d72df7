/**
 * Where the CFS periods of a pod lie in time, and which of them belong to a step of a plan.
 *
 * A limit that is set at a moment counts from the refill at or after it, so a period has the limit
 * of the step in which it begins. A pod with refills that do not begin at 0 has a shorter first period
 * with a whole quota, as on the node model.
 *
 * @module
 */

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

/** What makes a grid, ms. */
export interface PeriodGridOptions {
  readonly durationMs: number;
  /** A multiple of the period. */
  readonly stepMs: number;
  /** Where in the period quotas are refilled, 0 to below 100. */
  readonly phaseMs: number;
}

/** The grid. */
export function periodGrid({ durationMs, stepMs, phaseMs }: PeriodGridOptions): PeriodGrid {
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

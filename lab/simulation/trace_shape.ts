/**
 * Cutting, scaling and disturbing traces.
 *
 * @module
 */
import type { Random } from "../../shared/random.ts";
import { quantile } from "./statistics.ts";
import type { Trace } from "./trace.ts";

/**
 * The stretch of `seconds` with the largest sum; the first of equals, the whole trace if shorter.
 * Recorded arrivals are cut with it.
 */
export function busiestWindow(trace: Trace, seconds: number): Trace {
  const size = Math.floor(seconds / trace.stepS);
  if (!(size >= 1)) {
    throw new RangeError(
      `Cannot cut trace "${trace.name}": ${seconds} s is less than its step of ${trace.stepS} s`,
    );
  }
  if (size >= trace.values.length) return trace;
  let sum = 0;
  let best = -Infinity;
  let bestEnd = size;
  trace.values.forEach((value, index) => {
    sum += value - (index >= size ? trace.values[index - size] ?? 0 : 0);
    if (index >= size - 1 && sum > best) {
      best = sum;
      bestEnd = index + 1;
    }
  });
  const values = trace.values.slice(bestEnd - size, bestEnd);
  if (trace.arrivalsMs === undefined) return { ...trace, values };
  const fromMs = (bestEnd - size) * trace.stepS * 1000;
  const toMs = bestEnd * trace.stepS * 1000;
  const arrivalsMs = trace.arrivalsMs.filter((at) => at >= fromMs && at < toMs)
    .map((at) => at - fromMs);
  return { ...trace, values, arrivalsMs };
}

/** Throws what `refuse` makes of a reason where all of it is 0. */
export function requireLoad(
  { values }: Pick<Trace, "values">,
  refuse: (state: string) => Error,
): void {
  if (values.some((value) => value > 0)) return;
  throw refuse("every value in it is 0, expected some load: export a stretch with some");
}

/** Its whole minutes. Throws what `refuse` makes of a reason where there is not one. */
export function wholeMinutes(
  { values, stepS }: Pick<Trace, "values" | "stepS">,
  refuse: (state: string) => Error,
): number {
  const seconds = values.length * stepS;
  if (seconds >= 60) return Math.floor(seconds / 60);
  throw refuse(
    `it is ${Math.floor(seconds)} s long, expected at least a minute: export a longer stretch`,
  );
}

/** The trace without recorded arrivals: its rates alone, for what changes how many requests come. */
export function ratesOf({ arrivalsMs: _arrivalsMs, ...rates }: Trace): Trace {
  return rates;
}

/**
 * The trace times the factor that makes its 95th percentile `target`, in its own unit. Recorded
 * arrivals are left out: of another number of requests no times were recorded.
 */
export function scaleToP95(trace: Trace, target: number): Trace {
  return scale(trace, target, quantile(trace.values, 0.95));
}

/** As {@linkcode scaleToP95}, for the mean. */
export function scaleToMean(trace: Trace, target: number): Trace {
  return scale(trace, target, trace.values.reduce((a, b) => a + b, 0) / trace.values.length);
}

function scale(trace: Trace, target: number, present: number): Trace {
  if (!(target >= 0 && target < Infinity)) {
    throw new RangeError(`Cannot scale trace "${trace.name}": the target is ${target}`);
  }
  if (!(present > 0)) {
    throw new RangeError(
      `Cannot scale trace "${trace.name}" to ${target}: its present level is ${present}`,
    );
  }
  return { ...ratesOf(trace), values: trace.values.map((value) => value / present * target) };
}

/** Bursts laid over a trace. */
export interface BurstOptions {
  /** Factor by which a burst multiplies the trace. @default 4 */
  readonly factor?: number;
  /**
   * Mean time from the end of one to the begin of the next, s; drawn from half to 1.5 times it.
   * @default 120
   */
  readonly everyS?: number;
  /** Length of a burst, s. @default 10 */
  readonly lastS?: number;
  readonly random: Random;
}

/**
 * The trace at 1 s with bursts that begin and end within a second: published traces are smoothed, so
 * they hold none. Between samples further apart than 1 s the trace is interpolated linearly. Recorded
 * arrivals are left out: the requests of these bursts were not recorded.
 */
export function withBursts(trace: Trace, options: BurstOptions): Trace {
  const { factor = 4, everyS = 120, lastS = 10, random } = options;
  const { stepS, values } = trace;
  const fine = new Float64Array(Math.max(1, Math.round(values.length * stepS)));
  let inBurst = false;
  let until = (0.5 + random.next()) * everyS;
  for (let second = 0; second < fine.length; second++) {
    if (second >= until) {
      inBurst = !inBurst;
      until += inBurst ? lastS : (0.5 + random.next()) * everyS;
    }
    const position = second / stepS;
    const left = Math.min(Math.floor(position), values.length - 1);
    const from = values[left] ?? 0;
    const to = values[left + 1] ?? from;
    const level = stepS <= 1 ? from : from + (to - from) * (position - left);
    fine[second] = inBurst ? level * factor : level;
  }
  return { ...ratesOf(trace), stepS: 1, values: fine };
}

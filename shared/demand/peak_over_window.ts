/**
 * The highest estimate of the recent past.
 *
 * @module
 */
import type { DemandRule } from "./signal.ts";

interface Peak {
  readonly at: number;
  readonly demand: number;
}

/**
 * The largest demand that the rule gave within the last `windowMs`: one sample may raise it, and
 * only a whole quiet window lowers it. Keeps a falling sequence of peaks: amortised constant time.
 */
export function withPeakOverWindow(rule: DemandRule, windowMs: number): DemandRule {
  if (!(windowMs > 0)) {
    throw new RangeError(`Cannot keep a peak: window is ${windowMs} ms, expected more than 0`);
  }
  const peaks: Peak[] = [];
  return (signal) => {
    const demand = rule(signal);
    while (peaks.length > 0 && (peaks.at(-1)?.demand ?? 0) <= demand) peaks.pop();
    peaks.push({ at: signal.at, demand });
    while ((peaks[0]?.at ?? Infinity) < signal.at - windowMs) peaks.shift();
    return peaks[0]?.demand ?? demand;
  };
}

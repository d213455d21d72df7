/**
 * Smoothing that follows a rise faster than a fall.
 *
 * @module
 */
import type { DemandRule } from "./signal.ts";

/** Options of {@linkcode withFastRiseSlowFall}. */
export interface SmoothingOptions {
  /** Weight of a higher value after one `intervalMs`. @default {0.3} */
  readonly rise?: number;
  /** Weight of a lower value after one `intervalMs`. @default {0.1} */
  readonly fall?: number;
  /** The interval that the weights are meant for, ms. @default {250} */
  readonly intervalMs?: number;
}

/**
 * An exponential moving average whose weight depends on the direction. Weights are converted to
 * the sample's own interval, 1 − (1 − weight)^(interval / intervalMs), so that sampling faster does
 * not smooth less.
 */
export function withFastRiseSlowFall(
  rule: DemandRule,
  options: SmoothingOptions = {},
): DemandRule {
  const { rise = 0.3, fall = 0.1, intervalMs = 250 } = options;
  let smoothed: number | undefined;
  return (signal) => {
    const demand = rule(signal);
    if (smoothed === undefined) return smoothed = demand;
    const weight = 1 - (1 - (demand > smoothed ? rise : fall)) ** (signal.intervalMs / intervalMs);
    return smoothed += weight * (demand - smoothed);
  };
}

/**
 * What a container uses, and how much that varies.
 *
 * @module
 */
import type { DemandRule } from "./signal.ts";

/** Settings of {@linkcode usageWithSpread}. */
export interface SpreadOptions {
  /** Standard deviations above the mean. @default {2} */
  readonly deviations?: number;
  /** Usage is averaged over this long before its spread is taken, ms. @default {1000} */
  readonly averageMs?: number;
  /** Time constant of mean and variance, ms. @default {30000} */
  readonly memoryMs?: number;
}

/**
 * mean + deviations × standard deviation of usage, both exponentially weighted (Welford's update
 * with forgetting: mean += w·d, variance = (1 − w)·(variance + w·d²), w = 1 − e^(−t / memory)).
 *
 * Averages over a second, not samples of 250 ms: requests of a few milliseconds make those so
 * ragged that the sum over a node's pods would exceed any node.
 */
export function usageWithSpread(options: SpreadOptions = {}): DemandRule {
  const { deviations = 2, averageMs = 1000, memoryMs = 30_000 } = options;
  let mean: number | undefined;
  let variance = 0;
  let used = 0;
  let spanMs = 0;
  return ({ usage, intervalMs }) => {
    mean ??= usage;
    used += usage * intervalMs;
    spanMs += intervalMs;
    if (spanMs >= averageMs) {
      const weight = 1 - Math.exp(-spanMs / memoryMs);
      const difference = used / spanMs - mean;
      mean += weight * difference;
      variance = (1 - weight) * (variance + weight * difference * difference);
      used = 0;
      spanMs = 0;
    }
    return mean + deviations * Math.sqrt(variance);
  };
}

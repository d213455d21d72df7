/**
 * How a pod's priority weighs in the market.
 *
 * @module
 */

/** Multipliers are held within these, wherever they come from. */
const LEAST = 0.1;
const MOST = 10;

/** Priorities up to this one weigh 1. */
const NEUTRAL_PRIORITY = 1000;

/** A multiplier within [0.1, 10]. */
export function clampMultiplier(multiplier: number): number {
  return Math.min(MOST, Math.max(LEAST, multiplier));
}

/**
 * 1 up to priority 1000 and without a class, 1 + 0.5·log2(p / 1000) above (2000 → 1.5, 4000 → 2,
 * 10^6 → 6), 0.5 below 0.
 */
export function priorityMultiplier(priority: number): number {
  if (priority < 0) return 0.5;
  if (priority <= NEUTRAL_PRIORITY) return 1;
  return clampMultiplier(1 + 0.5 * Math.log2(priority / NEUTRAL_PRIORITY));
}

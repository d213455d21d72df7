/**
 * The estimate of demand that the agent uses.
 *
 * @module
 */
import { growthWhileThrottled } from "./growth_while_throttled.ts";
import { largestOf } from "./largest_of.ts";
import type { DemandRule } from "./signal.ts";
import { usageWithSpread } from "./usage_with_spread.ts";

/** A new estimator for one container: what it uses, or what throttling says it would use. */
export function createEstimator(): DemandRule {
  return largestOf(usageWithSpread(), growthWhileThrottled());
}

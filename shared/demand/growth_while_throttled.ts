/**
 * Demand of a container that runs into its quota.
 *
 * @module
 */
import type { DemandRule } from "./signal.ts";

/** Settings of {@linkcode growthWhileThrottled}; the values that hold in between are linear. */
export interface GrowthOptions {
  /** Largest step while CPU is free, as a share of the quota. @default {3} */
  readonly freeGrowth?: number;
  /** Largest step while others would have to pay for it. @default {0.5} */
  readonly scarceGrowth?: number;
  /** Share of throttled periods that is tolerated while CPU is scarce. @default {0.8} */
  readonly tolerance?: number;
  /** Time over which that share is judged while CPU is scarce, ms. @default {1000} */
  readonly judgeMs?: number;
}

/**
 * While a quota runs out, usage says nothing about what would have been used, and time held back
 * says too much: with eight requests waiting, eight threads stand still, though their work may be
 * short. The truth lies between usage and usage + time held back, so this rule steps from the quota
 * towards that end, the further the larger the share of periods in which the quota ran out.
 *
 * While CPU is free a single sample is enough and the step is large: one busy thread at 200 m asks
 * for 800, then 1000. While others would have to pay, only saturation counts, nearly every period
 * throttled for a second, and steps are small: requests that come at random run out of any quota now
 * and then, and pods that answered each other's chance with raises would trade CPU without end.
 */
export function growthWhileThrottled(options: GrowthOptions = {}): DemandRule {
  const { freeGrowth = 3, scarceGrowth = 0.5, tolerance = 0.8, judgeMs = 1000 } = options;
  let judged = 0;
  return ({ usage, heldBack, quota, throttledShare, intervalMs, scarcity }) => {
    judged += (1 - Math.exp(-intervalMs / judgeMs)) * (throttledShare - judged);
    if (heldBack === 0 || quota === undefined) return usage;
    const share = between(throttledShare, judged, scarcity);
    const tolerated = between(0, tolerance, scarcity);
    const urgency = Math.max(0, (share - tolerated) / (1 - tolerated));
    if (urgency === 0) return usage;
    const growth = urgency * between(freeGrowth, scarceGrowth, scarcity);
    return Math.max(usage, Math.min(usage + heldBack, quota * (1 + growth)));
  };
}

/** The value at `place` on the way from `free` (0) to `scarce` (1). */
function between(free: number, scarce: number, place: number): number {
  return free + place * (scarce - free);
}

/**
 * The rule by which the agent estimates what a container needs, from its readings.
 *
 * @module
 */
import { queueingNeed } from "./queueing_need.ts";
import { createSaturation, type SaturationSignal } from "./saturation.ts";
import { createUsageLevel, type LevelOptions, type UsageLevel } from "./usage_level.ts";

/** One container over one sampling interval. CPU in millicores, times in milliseconds. */
export type DemandSignal = SaturationSignal;

/** A container's demand: its mean usage, how unevenly its work comes, and a trial. */
export interface DemandEstimate extends Pick<UsageLevel, "mean" | "burstinessMs"> {
  /** Millicores to be tried out, because quotas hide what it would use; 0 when they don't. */
  readonly trial: number;
  /** For how long the quota has run out all the time, trials and all; 0 when it does not. */
  readonly saturatedMs: number;
}

/** A rule that turns signals into an estimate. It has a state; each container has its own. */
export type DemandRule = (signal: DemandSignal) => DemandEstimate;

/** A new rule for one container: what it uses, how unevenly, and what should be tried out. */
export function createDemandRule(options: LevelOptions = {}): DemandRule {
  const level = createUsageLevel(options);
  const saturation = createSaturation();
  return (signal) => {
    level.feed(signal.usage, signal.intervalMs);
    const { mean, burstinessMs } = level;
    const need = queueingNeed({ mean, burstinessMs }, signal.waitMs);
    const trial = saturation.feed(signal, need);
    return { mean, burstinessMs, trial, saturatedMs: saturation.saturatedMs };
  };
}

/** The demand that a container bids for: its need, or the trial if that is more. Millicores. */
export function demandOf(estimate: Omit<DemandEstimate, "saturatedMs">, waitMs: number): number {
  return Math.max(estimate.trial, queueingNeed(estimate, waitMs));
}

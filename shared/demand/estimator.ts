/**
 * The estimate of demand that the agent uses.
 *
 * @module
 */
import { queueingNeed } from "./queueing_need.ts";
import { createSaturation, type SaturationOptions } from "./saturation.ts";
import type { DemandRule } from "./signal.ts";
import { createUsageLevel, type LevelOptions } from "./usage_level.ts";

/** A new estimator for one container: what it uses, how unevenly, and what should be tried out. */
export function createEstimator(options: LevelOptions & SaturationOptions = {}): DemandRule {
  const level = createUsageLevel(options);
  const saturation = createSaturation(options);
  return (signal) => {
    level.feed(signal.usage, signal.intervalMs);
    const { mean, burstinessMs } = level;
    const need = queueingNeed({ mean, burstinessMs }, signal.waitMs);
    const trial = saturation.feed(signal, need);
    return { mean, burstinessMs, trial, saturatedMs: saturation.saturatedMs };
  };
}

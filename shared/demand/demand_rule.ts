/**
 * The rule by which the agent estimates what a container needs, from its readings.
 *
 * @module
 */
import { createSaturation, type DemandSignal } from "./saturation.ts";
import { createUsageLevel, type LevelOptions, type UsageLevel } from "./usage_level.ts";

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

/** Share of the work that may wait longer than it should. */
const LATE_SHARE = 0.01;
/** Least headroom, as a share of the mean: even work that comes evenly needs some. */
const LEAST_HEADROOM = 0.05;

/**
 * Millicores that a container needs for its work to wait longer than `waitMs` with a chance of 1 % at
 * most.
 *
 * In heavy traffic the work that waits is exponentially distributed, with the decay 2 (c − m) / v for
 * a rate of service c, a mean of work m and a variance of work v = b m per time (Kingman: The single
 * server queue in heavy traffic, 1961; Harrison: Brownian Motion and Stochastic Flow Systems, 1985).
 * Work that waits for x stands for c x of it, so P(wait > x) = exp(−2 (c − m) c x / (b m)) = p, hence
 * c = (m + √(m² + 2 m b ln(1/p) / x)) / 2. Headroom c − m hardly grows with m: a large service needs a
 * tenth on top, a small one as much again as it uses.
 */
export function queueingNeed(
  { mean, burstinessMs }: Pick<UsageLevel, "mean" | "burstinessMs">,
  waitMs: number,
): number {
  // In CPUs, with b and x in the same unit.
  const m = mean / 1000;
  const c = (m + Math.sqrt(m * m + 2 * m * burstinessMs * Math.log(1 / LATE_SHARE) / waitMs)) / 2;
  return 1000 * Math.max(c, m * (1 + LEAST_HEADROOM));
}

/**
 * The rule by which the agent estimates what a container needs, from its readings, and how long work may
 * wait on a node where limits follow demand.
 *
 * @module
 */
import { createSaturation, type DemandSignal, type HiddenDemand } from "./saturation.ts";
import { createUsageLevel, type LevelOptions, type UsageLevel } from "./usage_level.ts";

/** A container's demand: its mean usage, how unevenly its work comes, and what its quota hides. */
export interface DemandEstimate extends Pick<UsageLevel, "mean" | "burstinessMs">, HiddenDemand {}

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
    return { mean, burstinessMs, ...saturation(signal, need) };
  };
}

/** The demand: the need, or the trial if that is more. Millicores. In `tight` the container bids for it. */
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

/** A container that shares the node. Millicores. */
export interface SharingContainer {
  readonly estimate: DemandEstimate;
  readonly ceiling: number;
  /** Demand by a metric; absent where there is none. */
  readonly asked?: number | undefined;
  /** Its part of the room if all bid for more than there is; its floor at least. */
  readonly part: number;
}

/** A container with a quota that has run out for this long, ms, is taken to want all that there is. */
const INSATIABLE_MS = 10_000;
/** How long work should wait at most where CPU is ample, ms: one CFS period. */
export const WAIT_TARGET_MS = 100;
/** Beyond this waiting no longer saves CPU worth speaking of. */
export const MOST_WAIT_MS = 2000;
/** Parts that add up to the room may miss it by the last digits, millicores. */
const ROUNDING = 1e-6;
/** The bisection ends within a hundredth. */
const STEPS = 9;

/**
 * The shortest wait, ms, at which the needs of all fit into `room`, millicores: at least `targetMs`, at
 * most {@linkcode MOST_WAIT_MS}. Needs fall as waits grow, so bisection finds it.
 *
 * A container that has been saturated for {@linkcode INSATIABLE_MS} counts with its part at most: a job
 * that eats all it gets needs more the more it is given, and no other work should wait for that. The
 * same goes for what a metric asks for.
 *
 * A clearing by itself divides what is short by weight: it would leave one container all of its
 * headroom and another less than it uses. With needs that fit, every container has what it uses, and
 * headroom shrinks until work waits equally long everywhere.
 */
export function commonWait(
  containers: readonly SharingContainer[],
  { room, targetMs }: { readonly room: number; readonly targetMs: number },
): number {
  const fits = (waitMs: number): boolean => needsOf(containers, waitMs) <= room + ROUNDING;
  if (fits(targetMs)) return targetMs;
  if (!fits(MOST_WAIT_MS)) return MOST_WAIT_MS;
  let short = Math.log(targetMs);
  let long = Math.log(MOST_WAIT_MS);
  for (let step = 0; step < STEPS; step++) {
    const middle = (short + long) / 2;
    if (fits(Math.exp(middle))) long = middle;
    else short = middle;
  }
  return Math.exp(long);
}

function needsOf(containers: readonly SharingContainer[], waitMs: number): number {
  return containers.reduce((sum, { estimate, ceiling, part, asked = 0 }) => {
    const most = estimate.saturatedMs >= INSATIABLE_MS ? Math.min(ceiling, part) : ceiling;
    return sum + Math.min(most, Math.max(queueingNeed(estimate, waitMs), Math.min(asked, part)));
  }, 0);
}

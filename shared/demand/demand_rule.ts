/**
 * Estimates a container's need from its readings, and how long work may wait on a node in `tight`.
 *
 * @module
 */
import { createSaturation, type DemandSignal, type HiddenDemand } from "./saturation.ts";

/** A container's demand: its mean usage, how unevenly its work comes, and what its quota hides. */
export interface DemandEstimate extends Pick<UsageLevel, "mean" | "burstinessMs">, HiddenDemand {}

/** Turns signals of one container into an estimate, and keeps a state for it. */
export type DemandRule = (signal: DemandSignal) => DemandEstimate;

/** A new rule for one container. */
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

/** Settings of {@linkcode createUsageLevel}. */
export interface LevelOptions {
  /** Time constant of the mean, ms. @default {15000} */
  readonly meanMs?: number;
}

/** The mean and burstiness of a container's usage so far. */
export interface UsageLevel {
  /** Takes the usage of an interval, millicores. */
  feed(usage: number, intervalMs: number): void;
  /** Millicores; 0 before the first interval. */
  readonly mean: number;
  /** CPU ms: variance / mean of the work in an interval. */
  readonly burstinessMs: number;
}

/** Usage is averaged over blocks of this length. */
const BLOCK_MS = 1000;
/** Time constant of the burstiness. */
const MEMORY_MS = 300_000;
/** Burstiness until there is a history: of requests with a mean and a deviation of 10 ms. */
const USUAL_BURSTINESS_MS = 20;
/** Number of blocks as which it counts, fading as measured blocks come. */
const USUAL_BLOCKS = 10;
/** A shift of the level is looked for in this many of the last blocks. */
const LONGEST_WINDOW = 8;
/** A deviation of more standard errors is a shift of the level. */
const SURPRISE = 5;
/** (millicores)²: the precision of the readings. */
const LEAST_VARIANCE = 1;
/** Millicores; burstiness is not scaled from a lower level. */
const LEAST_LEVEL = 1;
/** A difference between two blocks counts up to this many standard deviations of usual work. */
const MOST_DEVIATIONS = 5;

/**
 * The mean is exponentially weighted. It moves at once to the mean of the last one to eight blocks where
 * that is further away than chance explains, so that a new level is not averaged with the last one. The
 * window with the largest deviation counts, as in a likelihood ratio test for a change at an unknown
 * moment (Page: Continuous inspection schemes, 1954).
 *
 * Work that comes at random (a compound Poisson process of jobs S) has a variance in proportion to
 * time and mean: burstiness = E[S²] / E[S]. It is estimated from differences of neighbouring blocks
 * (von Neumann's mean square successive difference), which a slow drift does not inflate, and each
 * difference counts no more than chance makes plausible, so that a shift does not either.
 */
export function createUsageLevel({ meanMs = 15_000 }: LevelOptions = {}): UsageLevel {
  let mean: number | undefined;
  let used = 0;
  let spanMs = 0;
  /** The last blocks, the newest last; millicores. */
  const recent: number[] = [];
  /** Fading sums over blocks: squared differences / 2 × time, usage, and their count. */
  let squares = 0;
  let sum = 0;
  let count = 0;

  function burstiness(): number {
    const usual = USUAL_BLOCKS * Math.exp(-count / USUAL_BLOCKS);
    // (millicores)² ms / millicores are thousandths of CPU ms.
    const seen = sum > 0 ? squares / sum / 1000 : 0;
    return (usual * USUAL_BURSTINESS_MS + count * seen) / (usual + count);
  }

  function endBlock(block: number): void {
    const now = burstiness();
    const last = recent.at(-1);
    if (last !== undefined) {
      const fade = Math.exp(-spanMs / MEMORY_MS);
      const middle = (block + last) / 2;
      const most = MOST_DEVIATIONS ** 2 * Math.max(now, USUAL_BURSTINESS_MS) * 1000 * middle;
      squares = fade * squares + Math.min((block - last) ** 2 / 2 * spanMs, most);
      sum = fade * sum + middle;
      count = fade * count + 1;
    }
    recent.push(block);
    if (recent.length > LONGEST_WINDOW) recent.shift();
    const before = mean ?? block;
    const averaged = before + (1 - Math.exp(-spanMs / meanMs)) * (block - before);
    mean = shifted(averaged, now);
    if (mean !== averaged && averaged > LEAST_LEVEL) {
      // The burstiness stays the same at the new level, and its history keeps its weight.
      squares *= mean / averaged;
      sum *= mean / averaged;
    }
    used = 0;
    spanMs = 0;
  }

  /** The mean, or that of the window with the largest deviation if that is a shift. */
  function shifted(before: number, burstinessMs: number): number {
    let after = before;
    let largest = SURPRISE;
    let blocks = recent.length;
    let total = 0;
    for (let window = 1; window <= recent.length; window++) {
      total += recent[recent.length - window] ?? 0;
      const average = total / window;
      const variance = burstinessMs * 1000 * Math.max(before, average) / (window * BLOCK_MS);
      const deviations = Math.abs(average - before) / Math.sqrt(Math.max(variance, LEAST_VARIANCE));
      if (deviations <= largest) continue;
      largest = deviations;
      after = average;
      blocks = window;
    }
    // Earlier blocks belong to the last level: they would look like a shift back.
    if (after !== before) recent.splice(0, recent.length - blocks);
    return after;
  }

  return {
    feed(usage, intervalMs) {
      mean ??= usage;
      used += usage * intervalMs;
      spanMs += intervalMs;
      if (spanMs >= BLOCK_MS) endBlock(used / spanMs);
    },
    get mean() {
      return mean ?? 0;
    },
    get burstinessMs() {
      return burstiness();
    },
  };
}

/** The demand, for which the container bids in `tight`: the need, or the trial if more. Millicores. */
export function demandOf(estimate: Omit<DemandEstimate, "saturatedMs">, waitMs: number): number {
  return Math.max(estimate.trial, queueingNeed(estimate, waitMs));
}

/** Share of the work that may wait longer than `waitMs`. */
const LATE_SHARE = 0.01;
/** Least headroom, as a share of the mean, also for work that comes evenly. */
const LEAST_HEADROOM = 0.05;

/**
 * Millicores that a container needs so that at most 1 % of its work waits longer than `waitMs`.
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
  readonly asked?: number | undefined;
  /** Its part of the room if all bid for more than there is; at least its floor. */
  readonly part: number;
}

/** A container that has been saturated for this long, ms, counts as one that uses all it can get. */
const INSATIABLE_MS = 10_000;
/** Longest wait of work where CPU is ample, ms: one CFS period. */
export const WAIT_TARGET_MS = 100;
/** Longest wait of work, ms: a longer one hardly saves CPU. */
export const MOST_WAIT_MS = 2000;
/** Tolerance for sums of parts, millicores. */
const ROUNDING = 1e-6;
/** The bisection has an error of at most 1 %. */
const STEPS = 9;

/**
 * The shortest wait, ms, at which the needs of all containers fit into `room`, millicores: at least
 * `targetMs`, at most {@linkcode MOST_WAIT_MS}. No need grows with the wait, so bisection finds it.
 *
 * A container that has been saturated for {@linkcode INSATIABLE_MS} counts with at most its part: a job
 * that uses all it gets needs more the more it is given, and other work should not wait for that. The
 * same holds for demand by a metric.
 *
 * If the needs did not fit, the clearing would divide by weight, and leave one container all of its
 * headroom and another less than it uses. With a common wait headroom shrinks instead until work waits
 * equally long everywhere, within ceilings, parts and the least headroom.
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

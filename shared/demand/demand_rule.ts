/**
 * The rule by which the agent estimates what a container needs, from its readings, and how long work may
 * wait on a node where limits follow demand.
 *
 * @module
 */
import { createSaturation, type DemandSignal, type HiddenDemand } from "./saturation.ts";

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

/** Settings of {@linkcode createUsageLevel}. */
export interface LevelOptions {
  /** Time constant of the mean, ms. @default {15000} */
  readonly meanMs?: number;
}

/** Level and burstiness in the making. */
export interface UsageLevel {
  /** Takes the usage of an interval, millicores. */
  feed(usage: number, intervalMs: number): void;
  /** Millicores; 0 before the first interval. */
  readonly mean: number;
  /** CPU ms: variance of the work of a time / mean work of that time. */
  readonly burstinessMs: number;
}

/** Usage is averaged over blocks of this length. */
const BLOCK_MS = 1000;
/** Time constant of the burstiness. */
const MEMORY_MS = 300_000;
/** Burstiness of requests of 10 ms that vary as much as they cost: taken until there is a history. */
const USUAL_BURSTINESS_MS = 20;
/** Blocks that it counts for, fading as others come. */
const USUAL_BLOCKS = 10;
/** Blocks at the end of which a shift of the level is looked for. */
const LONGEST_WINDOW = 8;
/** Standard errors beyond which the level is taken to have shifted. */
const SURPRISE = 5;
/** (millicores)²: steadier than the readings themselves nothing is. */
const LEAST_VARIANCE = 1;
/** Millicores; a level below is too low to scale from. */
const LEAST_LEVEL = 1;
/** A difference between two blocks counts up to this many standard deviations of usual work. */
const MOST_DEVIATIONS = 5;

/**
 * The mean fades exponentially. It moves at once to the mean of the last one to eight blocks where that
 * is further away than chance explains: a level that has shifted should not be averaged with what was
 * before. The mean that chance explains least is taken, as a likelihood ratio test for a change at an
 * unknown moment does (Page: Continuous inspection schemes, 1954).
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
  /** Blocks of late, the newest last; millicores. */
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
      // The burstiness that was learnt holds at the new level too, and must not outweigh it.
      squares *= mean / averaged;
      sum *= mean / averaged;
    }
    used = 0;
    spanMs = 0;
  }

  /** The mean, or that of the window that chance explains least, if it hardly does. */
  function shifted(before: number, burstinessMs: number): number {
    let after = before;
    let strangest = SURPRISE;
    let blocks = recent.length;
    let total = 0;
    for (let window = 1; window <= recent.length; window++) {
      total += recent[recent.length - window] ?? 0;
      const average = total / window;
      const variance = burstinessMs * 1000 * Math.max(before, average) / (window * BLOCK_MS);
      const deviations = Math.abs(average - before) / Math.sqrt(Math.max(variance, LEAST_VARIANCE));
      if (deviations <= strangest) continue;
      strangest = deviations;
      after = average;
      blocks = window;
    }
    // Blocks before belong to the level that was left: they would be a shift back the next time.
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
 * most {@linkcode MOST_WAIT_MS}. No need grows with the wait, so bisection finds it.
 *
 * A container that has been saturated for {@linkcode INSATIABLE_MS} counts with its part at most: a job
 * that eats all it gets needs more the more it is given, and no other work should wait for that. The
 * same goes for what a metric asks for.
 *
 * A clearing by itself divides what is short by weight: it would leave one container all of its
 * headroom and another less than it uses. With needs that fit, every container has what it uses, and
 * headroom shrinks until work waits equally long, but where a ceiling, a part or the least headroom bounds
 * the need.
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

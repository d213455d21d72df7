/**
 * Demand that a quota hides because it runs out all the time.
 *
 * @module
 */
import type { ContainerSample } from "../cgroup/sample.ts";

/** A sample of one container, and the state of its node. */
export interface DemandSignal extends
  Pick<
    ContainerSample,
    "intervalMs" | "usage" | "throttledMsPerS" | "periods" | "throttledPeriods" | "quota"
  > {
  /** 0 while CPU of the node is ample, 1 when other containers would be lowered for a raise. */
  readonly scarcity: number;
  /** How long work may wait for a quota on this node, ms: longer where CPU is short. */
  readonly waitMs: number;
}

/** The estimate of hidden demand. */
export interface HiddenDemand {
  /** The limit to try out, millicores; 0: none. */
  readonly trial: number;
  /**
   * For how long the quota has run out in every period, also during trials, ms. Falls twice as fast as it
   * rises, so that it survives a better period.
   */
  readonly saturatedMs: number;
}

/** Takes a reading of one container; `need` is its estimated need, millicores. */
export type Saturation = (signal: DemandSignal, need: number) => HiddenDemand;

/** Largest value of `saturatedMs`. */
const MOST_SATURATED_MS = 20_000;

/** How long saturation lasts before a trial, ms: at first, and at most, after trials that were wrong. */
const [PATIENCE_MS, MOST_PATIENCE_MS] = [150, 1200];
/** Largest trial as a multiple of the quota: while CPU is ample, and while it is scarce. */
const [FREE_GROWTH, SCARCE_GROWTH] = [4, 1.5];
/** How long a trial lasts once its quota is in force. */
const TRIAL_MS = 1500;
/** The CFS period. */
const PERIOD_MS = 100;
/** All threads count as waiting if at least this share of the most that were seen is runnable. */
const FULL = 0.85;
/** Runnable threads as a multiple of the quota, below which no demand is hidden. */
const LEAST_PRESSURE = 1.2;
/** Time constant with which the most threads seen are forgotten. */
const MEMORY_MS = 600_000;
/** A trial was right if usage or need during it exceeded the quota before it by this factor. */
const RIGHT = 1.2;
/** Factor on the patience after a wrong trial; divisor after a right one. */
const LEARNT = 1.5;
/** A trial ends if its quota has not come into force for this long. */
const UNGRANTED_MS = 4000;
/** A quota that runs out in every period for this long hides demand, however few threads wait. */
const EXHAUSTED_MS = 3000;
/** Saturation during a trial leads to a larger one after this long. */
const AGAIN_MS = 1000;

interface Trial {
  readonly wanted: number;
  /** The quota before it. */
  readonly from: number;
  /** Time for which the larger quota has been in force, and CPU ms used in it. */
  inForceMs: number;
  usedMs: number;
  /** Time in which the larger quota was not in force. */
  ungrantedMs: number;
}

/**
 * While a quota runs out, neither usage nor throttled time shows the demand: once all threads wait, a
 * small excess looks like a large one. Its duration is a first sign. The proof is a trial: a large raise
 * for a short time, in which usage shows the need.
 *
 * Work that comes at random saturates any tight quota now and then, for a period or two. So the patience
 * before a trial is learnt: it grows with each trial that was wrong, and shrinks with each right one.
 */
export function createSaturation(): Saturation {
  let patience = PATIENCE_MS;
  let most = 0;
  let before = 0;
  /** For how long the quota has run out with all threads waiting; and in every period, waiting or not. */
  let [lastedMs, exhaustedMs] = [0, 0];
  let saturatedMs = 0;
  let trial: Trial | undefined;

  /** Takes a reading; returns the threads that want to run, millicores. */
  function watch(
    { usage, throttledMsPerS, quota = Infinity, periods, throttledPeriods, intervalMs }:
      DemandSignal,
  ): number {
    const threads = usage + throttledMsPerS;
    if (periods === 0) {
      // No period has ended, so that the reading neither confirms nor refutes the saturation.
      if (lastedMs > 0) lastedMs += intervalMs;
      return Math.max(threads, most);
    }
    // The smaller of two readings counts: the kernel adds throttled time when a pause ends, so that one
    // reading may contain pauses of more periods than it is long.
    most = Math.max(Math.min(threads, before), most * Math.exp(-intervalMs / MEMORY_MS));
    before = threads;
    const share = most > 0 ? Math.min(1, threads / most) : 1;
    const isPressed = threads > LEAST_PRESSURE * quota;
    const isExhausted = throttledPeriods >= 0.99 * periods && isPressed;
    exhaustedMs = isExhausted ? exhaustedMs + intervalMs : 0;
    saturatedMs = isExhausted
      ? Math.min(MOST_SATURATED_MS, saturatedMs + intervalMs)
      : Math.max(0, saturatedMs - 2 * intervalMs);
    if (throttledPeriods === 0 || !isPressed) lastedMs = 0;
    else if (isExhausted && share >= FULL) lastedMs += intervalMs;
    // A reading that ends saturated may have begun idle.
    else lastedMs = share >= 0.3 ? share * intervalMs : 0;
    return Math.max(threads, most);
  }

  /** The limit to try out after a reading, millicores. */
  const feed: (...reading: Parameters<Saturation>) => number = (signal, need) => {
    const { quota, intervalMs, scarcity, waitMs } = signal;
    if (quota === undefined) {
      saturatedMs = 0;
      return 0;
    }
    const threads = watch(signal);
    // Where work may wait longer, saturation must last longer.
    const enough = Math.max(patience, PATIENCE_MS * waitMs / PERIOD_MS);
    const again = trial !== undefined && quota > RIGHT * trial.from;
    const asks = trial === undefined || again;
    // Threads that wait for a CPU are not counted: on a busy node fewer seem runnable.
    const lasted = exhaustedMs >= Math.max(EXHAUSTED_MS, enough) ? Infinity : lastedMs;
    if (asks && lasted >= (again ? Math.max(AGAIN_MS, enough) : enough)) {
      const growth = FREE_GROWTH + scarcity * (SCARCE_GROWTH - FREE_GROWTH);
      const wanted = Math.min(threads, growth * quota);
      trial = { wanted, from: trial?.from ?? quota, inForceMs: 0, usedMs: 0, ungrantedMs: 0 };
      lastedMs = 0;
      exhaustedMs = 0;
    }
    if (trial === undefined) return 0;
    const { wanted, from } = trial;
    // The trial's time begins when the larger quota is in force.
    if (quota > from) {
      trial.inForceMs += intervalMs;
      trial.usedMs += signal.usage * intervalMs / 1000;
    } else trial.ungrantedMs += intervalMs;
    if (trial.inForceMs >= TRIAL_MS) {
      // The need is an average, which follows a rare burst late.
      const shown = Math.max(need, 1000 * trial.usedMs / trial.inForceMs);
      patience = shown > RIGHT * from
        ? Math.max(PATIENCE_MS, patience / LEARNT)
        : Math.min(MOST_PATIENCE_MS, patience * LEARNT);
      trial = undefined;
    } else if (trial.ungrantedMs >= UNGRANTED_MS) trial = undefined;
    return wanted;
  };
  return (signal, need) => ({ trial: feed(signal, need), saturatedMs });
}

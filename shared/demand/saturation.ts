/**
 * Demand of a container with a quota that runs out all the time.
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
  /**
   * How hard it is to give the container more: 0 while CPU of the node is free, 1 when others would
   * have to be lowered for it.
   */
  readonly scarcity: number;
  /** How long work may wait for a quota on this node now, ms: longer where CPU is short. */
  readonly waitMs: number;
}

/** Demand that a quota hides when it runs out. */
export interface HiddenDemand {
  /** Millicores to be tried out; 0 for none. */
  readonly trial: number;
  /**
   * For how long the quota has run out in every period, trials and all, ms: twice as quick to fall as to
   * rise, so that one better period does not end what has lasted.
   */
  readonly saturatedMs: number;
}

/** Watches one container; `need` is what it needs as far as is known, millicores. */
export type Saturation = (signal: DemandSignal, need: number) => HiddenDemand;

/** Beyond this it no longer matters for how long a quota has run out. */
const MOST_SATURATED_MS = 20_000;

/** How long saturation must last at first before more is tried, and at most, after trials that showed nothing. */
const [PATIENCE_MS, MOST_PATIENCE_MS] = [150, 1200];
/** Largest step as a multiple of the quota: while CPU is free, and where others have to pay for it. */
const [FREE_GROWTH, SCARCE_GROWTH] = [4, 1.5];
/** How long a trial lasts once it is in force. */
const TRIAL_MS = 1500;
/** A CFS period, the shortest time in which a quota can run out. */
const PERIOD_MS = 100;
/** Runnable threads, as a share of the most that were seen, at which all of them wait. */
const FULL = 0.85;
/** Millicores of runnable threads per millicore of quota, below which nothing is hidden. */
const LEAST_PRESSURE = 1.2;
/** Time constant with which the most threads seen are forgotten. */
const MEMORY_MS = 600_000;
/** A trial was right when the usage or the need in it exceeds the quota before it by this factor. */
const RIGHT = 1.2;
/** Factor on patience after a trial that showed nothing; divisor after one that was right. */
const LEARNT = 1.5;
/** A trial that was not granted for this long is given up. */
const UNGRANTED_MS = 4000;
/** A quota that runs out in every period for this long hides something, however few threads wait. */
const EXHAUSTED_MS = 3000;
/** Saturation under a trial asks for a larger one after this long. */
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
 * While a quota runs out, neither usage nor throttled time shows what would have been used: as soon as
 * all threads wait, a small excess and a large one are the same. Only its duration separates them, and
 * in the end only a trial: a large step up, for a moment in which usage shows the need.
 *
 * Work that comes at random saturates any lean quota now and then, for a period or two. So patience
 * is learnt: each trial that showed nothing makes it longer, each that was right shorter again.
 */
export function createSaturation(): Saturation {
  let patience = PATIENCE_MS;
  let most = 0;
  let before = 0;
  /** For how long with all threads waiting; and in every period, waiting or not. */
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
      // No period ended: nothing was booked that could confirm or refute it.
      if (lastedMs > 0) lastedMs += intervalMs;
      return Math.max(threads, most);
    }
    // The lesser of two readings counts: throttled time is booked when a pause ends, so one reading may
    // hold the pauses of more periods than it is long.
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

  /** The millicores to be tried out after a reading. */
  const feed: (...reading: Parameters<Saturation>) => number = (signal, need) => {
    const { quota, intervalMs, scarcity, waitMs } = signal;
    if (quota === undefined) {
      saturatedMs = 0;
      return 0;
    }
    const threads = watch(signal);
    // Where work may wait longer, saturation is expected for longer.
    const enough = Math.max(patience, PATIENCE_MS * waitMs / PERIOD_MS);
    const again = trial !== undefined && quota > RIGHT * trial.from;
    const asks = trial === undefined || again;
    // Threads that wait for a CPU are not seen: on a busy node fewer seem to want to run.
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
    // Its time begins when the larger quota is in force.
    if (quota > from) {
      trial.inForceMs += intervalMs;
      trial.usedMs += signal.usage * intervalMs / 1000;
    } else trial.ungrantedMs += intervalMs;
    if (trial.inForceMs >= TRIAL_MS) {
      // The need is an average that follows a rare burst late.
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

/**
 * The quota of one cgroup: CFS bandwidth control as Linux does it since 5.4, with the counters of its
 * `cpu.stat`. Functions named here and in `cpu_slices.ts` are those of kernel/sched/fair.c.
 *
 * - A period's quota goes into a pool; what of it is not taken by the next refill is lost
 *   (`__refill_cfs_bandwidth_runtime()`). Each CPU takes slices of 5 ms from it
 *   (`__assign_cfs_rq_runtime()`), and keeps what it has in hand beyond the refill.
 * - A running thread is charged at the tick of its CPU or when it stops (`update_curr()`,
 *   `account_cfs_rq_runtime()`), and held only then (`throttle_cfs_rq()`). Up to a tick it runs on
 *   credit, for which the next quota pays first (`distribute_cfs_runtime()`).
 * - Throttled time is counted when a CPU is let go (`unthrottle_cfs_rq()`): (stopped threads) × (time
 *   they stand still). With n = min(busy threads, cores) that want to run all the time this is
 *   n × max(0, period − quota / n) a period.
 * - The timer counts periods, also the first one in which no slice was taken, and then stops until
 *   one is (`do_sched_cfs_period_timer()`).
 * - Writing a quota fills the pool, takes what CPUs have in hand, remits debts and unthrottles all threads
 *   (`tg_set_cfs_bandwidth()` in core.c), also when it is the same quota.
 *
 * @module
 */

/** Quota and counters of a container or pod. Times in ms of CPU. */
export interface Bandwidth {
  /** Quota that a CPU takes at a time: `sysctl_sched_cfs_bandwidth_slice`. */
  readonly slice: number;
  /** The most CPUs on which its threads can run at once. */
  readonly cpus: number;
  /** Quota per period in force; Infinity without a limit. */
  quota: number;
  /** Quota that may still be used, in the pool and in the CPUs' slices; below 0 it is a debt. */
  remaining: number;
  /** Quota left for CPUs to take, as of the last time that they took any. */
  pool: number;
  /** True from the moment on when it holds threads back, or would, until the refill. */
  held: boolean;
  /** True while the period's timer runs. */
  ticking: boolean;
  /** True when no slice was taken since the last refill. */
  untouched: boolean;
  /** Throttled thread time that is not counted yet. */
  pending: number;
  /** Periods in which the timer ran. */
  periods: number;
  /** Those of them that ended with throttled threads. */
  throttledPeriods: number;
  /** Throttled thread time, up to the last time it was let go. */
  throttled: number;
}

/** Quota that a CPU may keep when it falls idle, ms: `min_cfs_rq_runtime`. */
export const KEPT_MS = 1;
/** ms of quota: above rounding, and a millionth of the smallest quota (1 ms). */
export const EXHAUSTED = 1e-9;

/** A group at the start of a period. */
export function createBandwidth(
  quota: number,
  { slice, cpus }: Pick<Bandwidth, "slice" | "cpus">,
): Bandwidth {
  return {
    slice,
    cpus,
    quota,
    remaining: quota,
    pool: quota,
    held: false,
    ticking: false,
    untouched: true,
    pending: 0,
    periods: 0,
    throttledPeriods: 0,
    throttled: 0,
  };
}

/** Notes that a CPU takes a slice, or tries to: the period's timer runs from here on. */
export function startTimer(bandwidth: Bandwidth): void {
  bandwidth.ticking = true;
  bandwidth.untouched = false;
}

/** Counts the throttled thread time so far. */
export function countThrottled(bandwidth: Bandwidth): void {
  bandwidth.throttled += bandwidth.pending;
  bandwidth.pending = 0;
}

/** The timer fires: counts the period and fills the pool. */
export function refill(bandwidth: Bandwidth): void {
  bandwidth.remaining += bandwidth.quota - bandwidth.pool;
  bandwidth.pool = bandwidth.quota;
  if (!bandwidth.ticking) return;
  bandwidth.periods++;
  if (bandwidth.held) {
    bandwidth.throttledPeriods++;
    bandwidth.untouched = false;
    bandwidth.held = false;
  } else {
    bandwidth.ticking = !bandwidth.untouched;
    bandwidth.untouched = true;
  }
}

/** Puts a quota into force; the CPUs' slices are for the caller to empty. */
export function setQuota(bandwidth: Bandwidth, quota: number): void {
  bandwidth.quota = quota;
  bandwidth.remaining = quota;
  bandwidth.pool = quota;
  bandwidth.ticking = quota !== Infinity;
  bandwidth.held = false;
  countThrottled(bandwidth);
}

/** How a group runs and is charged. */
export interface Charging {
  /** Quota that a CPU takes at a time, ms. */
  readonly slice: number;
  /**
   * CPUs that it has at this moment, as a share of those on which it runs: 1 unless cores are short.
   */
  readonly share: number;
  /** ms between two ticks of a CPU, and since the last one. */
  readonly tick: number;
  readonly sinceTick: number;
}

/**
 * Quota in hand of a running CPU that used up its slice `overdrawn` ms of CPU ago. It takes a new one
 * at the first tick after that; in a row of slices each lasts for the same whole number of ticks.
 */
export function inHandAfter(
  overdrawn: number,
  { slice, share, tick, sinceTick }: Charging,
): number {
  const ago = overdrawn / share;
  if (sinceTick === 0 && ago < tick) return share * slice;
  const sinceFirst = ago - modulo(ago - sinceTick, tick);
  // The tick is still to come.
  if (sinceFirst < -ROUNDING) return -overdrawn;
  return share * (slice - modulo(sinceFirst, tick * Math.ceil(slice / tick)));
}

/** The remainder in [0, divisor); a whole multiple that rounding made smaller has none. */
function modulo(value: number, divisor: number): number {
  const rest = value - divisor * Math.floor(value / divisor + ROUNDING);
  return Math.max(0, rest);
}

const ROUNDING = 1e-9;

/** Whether nothing is left; its threads run on until the tick. */
export function isExhausted(bandwidth: Bandwidth): boolean {
  return bandwidth.remaining <= EXHAUSTED;
}

/** Nothing is left to take, and its threads, or those to come, are held. */
export function holdPod(bandwidth: Bandwidth): void {
  startTimer(bandwidth);
  bandwidth.pool = 0;
}

/** The last threads, which ran on so many CPUs, stop: these give back all but 1 ms each. */
export function returnPodSlices(bandwidth: Bandwidth, cpus: number): void {
  if (bandwidth.quota === Infinity) return;
  const inHand = bandwidth.remaining - bandwidth.pool;
  if (inHand <= 0) startTimer(bandwidth);
  // Slices taken on the way are neither known nor needed: the last one left more than is kept.
  if (inHand <= 0 || inHand > KEPT_MS * cpus) {
    bandwidth.pool = Math.max(0, bandwidth.remaining - KEPT_MS * cpus);
  }
}

/** Ends a period, in which it ran on so many CPUs at last; false while a debt keeps it held. */
export function refillPodQuota(
  bandwidth: Bandwidth,
  { cpus, charging }: { readonly cpus: number; readonly charging: Charging },
): boolean {
  if (bandwidth.quota === Infinity) return true;
  const overdrawn = bandwidth.pool - bandwidth.remaining;
  if (cpus > 0 && overdrawn >= 0) {
    const inHand = cpus * inHandAfter(overdrawn / cpus, charging);
    if (inHand > -overdrawn) {
      startTimer(bandwidth);
      bandwidth.pool = Math.max(0, bandwidth.remaining - inHand);
    }
  }
  refill(bandwidth);
  // Debts are paid from the pool.
  bandwidth.pool = Math.max(0, Math.min(bandwidth.pool, bandwidth.remaining));
  if (isExhausted(bandwidth)) {
    holdPod(bandwidth);
    return false;
  }
  countThrottled(bandwidth);
  return true;
}

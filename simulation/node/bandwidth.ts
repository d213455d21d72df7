/**
 * The quota of one cgroup: CFS bandwidth control, period by period, with the counters of its
 * `cpu.stat`.
 *
 * As in the kernel, throttled time is added to the counter when the group is let go, at the refill.
 * It grows by (stopped threads) × (time they stand still). With n = min(busy threads, cores) that
 * run from the start of a period this is n × max(0, period − quota / n).
 *
 * Two simplifications. A new quota counts from the next refill; the kernel refills at once, so the
 * model lets a raise work up to one period later. And quota is taken continuously, not in the
 * kernel's slices of 5 ms per CPU, which lose or save a few per cent of a small quota.
 *
 * @module
 */

/** Quota and counters of a container or pod. Times in ms of CPU. */
export interface Bandwidth {
  /** Quota per period in force; Infinity without a limit. */
  quota: number;
  /** Quota per period from the next refill on. */
  nextQuota: number;
  /** What is left of this period's quota. */
  remaining: number;
  /** True when a thread was runnable in this period, so that the period's timer runs. */
  active: boolean;
  /** Thread time held back since the last refill. */
  pending: number;
  /** Periods in which the timer ran. */
  periods: number;
  /** Those of them in which the quota held a thread back. */
  throttledPeriods: number;
  /** Thread time held back, up to the last refill. */
  throttled: number;
}

/** A group at the start of a period. */
export function createBandwidth(quota: number): Bandwidth {
  return {
    quota,
    nextQuota: quota,
    remaining: quota,
    active: false,
    pending: 0,
    periods: 0,
    throttledPeriods: 0,
    throttled: 0,
  };
}

/** Ends a period: counts it and gives the group its quota for the next. */
export function refill(bandwidth: Bandwidth): void {
  if (bandwidth.quota !== Infinity && bandwidth.active) {
    bandwidth.periods++;
    if (bandwidth.pending > 0) bandwidth.throttledPeriods++;
    bandwidth.throttled += bandwidth.pending;
  }
  bandwidth.active = false;
  bandwidth.pending = 0;
  bandwidth.quota = bandwidth.nextQuota;
  bandwidth.remaining = bandwidth.quota;
}

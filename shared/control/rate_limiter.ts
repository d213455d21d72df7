/**
 * A token bucket that takes the time as an argument. It is kept as one number, the time at which the
 * bucket would be full again (the virtual scheduling algorithm of ITU-T I.371), so nothing accumulates
 * rounding errors between calls.
 *
 * @module
 */

/** Rate and burst of a bucket. */
export interface RateLimit {
  /** Tokens that come back per second. */
  readonly perSecond: number;
  /** Tokens of a full bucket. A whole number of at least 1. */
  readonly burst: number;
}

/** A token bucket. All times are milliseconds of one monotonic clock. */
export interface RateLimiter {
  /** Takes a token and returns 0, or takes none and returns the wait until there is one, ms. */
  take(nowMs: number): number;
  /** The wait until there is a token, ms; takes none. */
  wait(nowMs: number): number;
}

/** Times nearer than a microsecond are the same: `now + wait` may fall short by a rounding. */
const SAME_TIME_MS = 1e-3;

/** A full bucket. */
export function createRateLimiter(limit: RateLimit): RateLimiter {
  const { perSecond, burst } = limit;
  if (!(perSecond > 0 && perSecond < Infinity)) {
    throw new RangeError(`Cannot limit a rate: perSecond is ${perSecond}, expected a number > 0`);
  }
  if (!Number.isInteger(burst) || burst < 1) {
    throw new RangeError(`Cannot limit a rate: burst is ${burst}, expected a whole number >= 1`);
  }
  const intervalMs = 1000 / perSecond;
  const toleranceMs = (burst - 1) * intervalMs;
  let fullAtMs = -Infinity;

  function wait(nowMs: number): number {
    const leftMs = Math.max(nowMs, fullAtMs) - toleranceMs - nowMs;
    return leftMs > SAME_TIME_MS ? leftMs : 0;
  }

  return {
    take(nowMs) {
      const leftMs = wait(nowMs);
      if (leftMs === 0) fullAtMs = Math.max(nowMs, fullAtMs) + intervalMs;
      return leftMs;
    },
    wait,
  };
}

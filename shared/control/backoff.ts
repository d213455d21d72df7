/**
 * Exponential back-off: how long to wait after the n-th failure in a row, per key.
 *
 * @module
 */
import { ApiError } from "../api/api_error.ts";
import type { Random } from "../random.ts";

/**
 * The longest wait after a brief failure, ms, if the server doesn't ask for more: an outage that has
 * passed should not be felt for long.
 */
export const LONGEST_BRIEF_MS = 5000;

/**
 * Whether no connection to the server came about, which costs it nothing. One that broke after the
 * answer had begun, or over which none came in time, is no such case: another attempt may cost the
 * server as much again.
 */
export function isUnreachable(error: unknown): boolean {
  return error instanceof ApiError && error.status === 0 && error.reason === "Unreachable";
}

/** Whether the server can't be reached, or says itself when to come again, as one that starts does. */
export function isBrief(error: unknown): boolean {
  return isUnreachable(error) || (error instanceof ApiError && error.retryAfterMs !== undefined);
}

/** How to log a failure that is tried again after so long: an outage is logged a few times a key. */
export function retryLevel(error: unknown, waitMs: number): "warn" | "debug" {
  return isUnreachable(error) && waitMs >= LONGEST_BRIEF_MS ? "debug" : "warn";
}

/** Bounds of a back-off. */
export interface BackoffOptions {
  /**
   * Wait after the first failure, ms.
   *
   * @default {1000}
   */
  readonly minMs?: number;
  /**
   * Longest wait, ms.
   *
   * @default {300000}
   */
  readonly maxMs?: number;
}

/** Bounds of a spread back-off. */
export interface SpreadOptions extends BackoffOptions {
  /** Spreads the waits of many clients, which one outage would otherwise keep in step. */
  readonly random: Random;
}

/** Counts failures per key. */
export interface Backoff {
  /**
   * Counts one more failure of `key` and returns the wait before the next attempt, ms. It doubles
   * from one to the next. After a failure that is brief it is 5 s at most, unless the server asks for
   * more, and what is tried again so early does not make the waits after it longer.
   */
  next(key: string, error?: unknown): number;
  /** Forgets the failures of `key`: it succeeded, or is gone. */
  reset(key: string): void;
}

const DEFAULT_MIN_MS = 1000;
const DEFAULT_MAX_MS = 300_000;

interface Bounds {
  readonly minMs: number;
  readonly maxMs: number;
}

function checkedBounds(options: BackoffOptions): Bounds {
  const { minMs = DEFAULT_MIN_MS, maxMs = DEFAULT_MAX_MS } = options;
  if (!(minMs > 0 && minMs <= maxMs && maxMs < Infinity)) {
    throw new RangeError(
      `Cannot back off: minMs is ${minMs} and maxMs is ${maxMs}, expected 0 < minMs <= maxMs`,
    );
  }
  return { minMs, maxMs };
}

function delayWithin(failures: number, bounds: Bounds): number {
  // 2^1000 is still finite, so the product never becomes NaN or loses the comparison.
  return Math.min(bounds.maxMs, bounds.minMs * 2 ** Math.min(failures - 1, 1000));
}

function checkFailures(failures: number): void {
  if (!Number.isInteger(failures) || failures < 1) {
    throw new RangeError(`Cannot back off: failures is ${failures}, expected a whole number >= 1`);
  }
}

/**
 * Wait after `failures` failures in a row, ms: min(maxMs, minMs × 2^(failures − 1)). With the
 * defaults 1, 2, 4, … s, and 5 min from the tenth on.
 */
export function backoffDelay(failures: number, options: BackoffOptions = {}): number {
  checkFailures(failures);
  return delayWithin(failures, checkedBounds(options));
}

/**
 * A wait drawn uniformly from [minMs, min(maxMs, minMs × 2^failures)), ms: after an outage the
 * clients come back spread over the whole range ("full jitter", Brooker, AWS Architecture Blog,
 * 2015), and none sooner than `minMs`.
 */
export function spreadBackoffDelay(failures: number, options: SpreadOptions): number {
  checkFailures(failures);
  const bounds = checkedBounds(options);
  const longest = delayWithin(failures + 1, bounds);
  return bounds.minMs + options.random.next() * (longest - bounds.minMs);
}

/** A back-off that knows no failures yet; with `random` its waits are spread. */
export function createBackoff(
  { random, ...options }: BackoffOptions & Partial<Pick<SpreadOptions, "random">> = {},
): Backoff {
  const bounds = checkedBounds(options);
  const { minMs, maxMs } = bounds;
  const early = { minMs, maxMs: Math.max(minMs, Math.min(maxMs, LONGEST_BRIEF_MS)) };
  const failures = new Map<string, number>();
  return {
    next(key, error) {
      const count = (failures.get(key) ?? 0) + 1;
      const within = isBrief(error) ? early : bounds;
      if (delayWithin(count, bounds) <= within.maxMs) failures.set(key, count);
      const waitMs = random === undefined
        ? delayWithin(count, within)
        : spreadBackoffDelay(count, { ...within, random });
      return Math.max(waitMs, error instanceof ApiError ? error.retryAfterMs ?? 0 : 0);
    },
    reset(key) {
      failures.delete(key);
    },
  };
}

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
 * Whether no connection to the server came about, which costs it nothing. False for a connection that
 * broke during the answer, or an answer that took too long: another attempt may cost the server as much.
 */
export function isUnreachable(error: unknown): boolean {
  return error instanceof ApiError && error.status === 0 && error.reason === "Unreachable";
}

/** Whether the server can't be reached, or asks for a wait, as a starting server does. */
function isBrief(error: unknown): boolean {
  return isUnreachable(error) || (error instanceof ApiError && error.retryAfterMs !== undefined);
}

/** The level to log a failure at, so that an outage is logged a few times for each key. */
export function retryLevel(error: unknown, waitMs: number): "warn" | "debug" {
  return isUnreachable(error) && waitMs >= LONGEST_BRIEF_MS ? "debug" : "warn";
}

/** Bounds of a back-off. */
export interface BackoffOptions {
  /** Wait after the first failure, ms. @default {1000} */
  readonly minMs?: number;
  /** Longest wait, ms. @default {300000} */
  readonly maxMs?: number;
  /** Spreads the waits of many clients, which one outage would otherwise keep in step. @default none */
  readonly random?: Random;
}

/** Counts failures per key. */
export interface Backoff {
  /**
   * Counts one more failure of `key` and returns the wait before the next attempt, ms, which doubles each
   * time. After a brief failure it is 5 s at most, unless the server asks for more; brief failures
   * beyond that do not count.
   */
  next(key: string, error?: unknown): number;
  /** Forgets the failures of `key`, which succeeded or is gone. */
  reset(key: string): void;
}

/**
 * A back-off that knows no failures yet. It waits min(maxMs, minMs × 2^(failures − 1)): with the defaults
 * 1, 2, 4, … s, and 5 min from the tenth failure on. With `random` it draws from [minMs, twice as much),
 * so that after an outage clients come back spread over the whole range ("full jitter", Brooker, AWS
 * Architecture Blog, 2015).
 */
export function createBackoff(
  { minMs = 1000, maxMs = 300_000, random }: BackoffOptions = {},
): Backoff {
  // 2^1000 is still finite, so the product never becomes NaN or loses the comparison.
  const doubled = (times: number): number => minMs * 2 ** Math.min(times, 1000);
  const failures = new Map<string, number>();
  return {
    next(key, error) {
      const count = (failures.get(key) ?? 0) + 1;
      const longestMs = isBrief(error) ? Math.max(minMs, Math.min(maxMs, LONGEST_BRIEF_MS)) : maxMs;
      if (Math.min(maxMs, doubled(count - 1)) <= longestMs) failures.set(key, count);
      const waitMs = random === undefined
        ? Math.min(longestMs, doubled(count - 1))
        : minMs + random.next() * (Math.min(longestMs, doubled(count)) - minMs);
      return Math.max(waitMs, error instanceof ApiError ? error.retryAfterMs ?? 0 : 0);
    },
    reset(key) {
      failures.delete(key);
    },
  };
}

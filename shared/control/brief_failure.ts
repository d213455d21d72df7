/**
 * Failures after which longer and longer waits do not help.
 *
 * @module
 */
import { ApiError } from "../api/api_error.ts";

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

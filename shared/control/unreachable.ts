/**
 * Failures to reach the server at all.
 *
 * @module
 */
import { ApiError } from "../api/api_error.ts";

/**
 * The longest wait while nobody can be reached, ms. An attempt that fails so costs the server nothing,
 * and an outage that has passed should not be felt for long.
 */
export const LONGEST_UNREACHABLE_MS = 5000;

/**
 * Whether no connection to the server came about. One that broke after the answer had begun, or over
 * which none came in time, is no such case: another attempt may cost the server as much again.
 */
export function isUnreachable(error: unknown): boolean {
  return error instanceof ApiError && error.status === 0 && error.reason === "Unreachable";
}

/** How to log a failure that is tried again after so long: an outage is told of a few times a key. */
export function retryLevel(error: unknown, waitMs: number): "warn" | "debug" {
  return isUnreachable(error) && waitMs >= LONGEST_UNREACHABLE_MS ? "debug" : "warn";
}

/**
 * Was the pod resized a moment ago, or too often?
 *
 * @module
 */
import type { EnforcementInput, Verdict } from "../check.ts";

/** Holds a pod for a while that was resized time and again. */
export function oscillates({ oscillatingMs = 0 }: EnforcementInput): Verdict {
  if (oscillatingMs <= 0) return undefined;
  return {
    verdict: "hold",
    reason: "Oscillating",
    message: "the limits were changed more than 20 times in 5 minutes: they stay for 5 minutes",
    retryAfterMs: oscillatingMs,
  };
}

/** Holds for the rest of the least time between two resizes of a pod. */
export function resizedJustNow({ restMs = 0 }: EnforcementInput): Verdict {
  if (restMs <= 0) return undefined;
  return {
    verdict: "hold",
    reason: "RateLimited",
    message: "the pod's last change was a moment ago",
    retryAfterMs: restMs,
  };
}

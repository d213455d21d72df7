/**
 * Is it this pod's turn?
 *
 * @module
 */
import type { EnforcementInput, Verdict, WantedLimits } from "../check.ts";

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

/**
 * Holds while the controller's rate of resizes is used up. A pod whose limits were clamped to what they
 * are already takes no turn from others.
 */
export function rateLimited({ pod, takeTurn }: EnforcementInput, limits: WantedLimits): Verdict {
  const containers = pod?.containers ?? [];
  if (containers.every(({ name, limitCPU }) => (limits.get(name) ?? limitCPU) === limitCPU)) {
    return undefined;
  }
  const waitMs = takeTurn(limits);
  if (waitMs <= 0) return undefined;
  return {
    verdict: "hold",
    reason: "RateLimited",
    message: "other changes go first",
    retryAfterMs: waitMs,
  };
}

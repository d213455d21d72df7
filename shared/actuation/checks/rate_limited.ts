/**
 * Is it this pod's turn?
 *
 * @module
 */
import type { EnforcementInput, Verdict, WantedLimits } from "../check.ts";

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

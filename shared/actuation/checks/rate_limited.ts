/**
 * Is it this pod's turn?
 *
 * @module
 */
import type { EnforcementInput, Verdict } from "../check.ts";

/** Holds while the controller's rate of resizes is used up. */
export function rateLimited({ takeTurn }: EnforcementInput): Verdict {
  const waitMs = takeTurn();
  if (waitMs <= 0) return undefined;
  return {
    verdict: "hold",
    reason: "RateLimited",
    message: "other changes go first",
    retryAfterMs: waitMs,
  };
}

/**
 * Was the clearing made with the bounds in force?
 *
 * @module
 */
import type { EnforcementInput, Verdict } from "../check.ts";

/** Holds until the agent has cleared with the bounds in force. */
export function boundsAreStale({ allocation }: EnforcementInput): Verdict {
  const { market, containers } = allocation.spec;
  if (containers === undefined || market === undefined) {
    return {
      verdict: "hold",
      reason: "Waiting",
      message: "the agent has not cleared with this pod yet",
    };
  }
  const revision = allocation.status?.bounds?.revision ?? 0;
  if (market.observedBounds === revision) return undefined;
  return {
    verdict: "hold",
    reason: "BoundsStale",
    message: `bounds are at revision ${revision}, the clearing used ${market.observedBounds}`,
  };
}

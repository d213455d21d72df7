/**
 * Does the agent still stand by the desired limits?
 *
 * @module
 */
import type { EnforcementInput, Verdict } from "../check.ts";

/** Holds while nothing but an old clearing speaks for the desired limits: the agent may be gone. */
export function desiredExpired({ isExpired }: EnforcementInput): Verdict {
  if (isExpired === undefined || !isExpired()) return undefined;
  return {
    verdict: "hold",
    reason: "DesiredExpired",
    message: "the desired limits are old, and the node's agent was not heard since: waiting for it",
  };
}

/**
 * Has the last change had its time?
 *
 * @module
 */
import type { GuardVerdict } from "./guard.ts";
import type { RightsizingFacts } from "./rightsizing_facts.ts";

/**
 * Holds for the rest of the policy's cooldown. A last change in the future, after a clock was set back,
 * says nothing: waiting for it could take hours.
 */
export function coolingDown(
  { nowMs, lastAppliedMs, policy: { updateStrategy: { cooldownMs } } }: RightsizingFacts,
): GuardVerdict {
  if (lastAppliedMs === undefined || lastAppliedMs > nowMs) return undefined;
  const restMs = lastAppliedMs + cooldownMs - nowMs;
  if (restMs <= 0) return undefined;
  return {
    verdict: "hold",
    reason: "Cooldown",
    message: `the next change may come in ${Math.ceil(restMs / 1000)} s`,
    retryAfterMs: restMs,
  };
}

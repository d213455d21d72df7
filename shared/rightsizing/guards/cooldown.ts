/**
 * Has the last change had its time?
 *
 * @module
 */
import type { GuardVerdict } from "./guard.ts";
import type { RightsizingFacts } from "./rightsizing_facts.ts";

/** Holds for the rest of the policy's cooldown; never for longer, should the clock have been set back. */
export function coolingDown(
  { nowMs, lastAppliedMs, policy: { updateStrategy: { cooldownMs } } }: RightsizingFacts,
): GuardVerdict {
  if (lastAppliedMs === undefined) return undefined;
  const restMs = Math.min(lastAppliedMs + cooldownMs - nowMs, cooldownMs);
  if (restMs <= 0) return undefined;
  return {
    verdict: "hold",
    reason: "Cooldown",
    message: `the next change may come in ${Math.ceil(restMs / 1000)} s`,
    retryAfterMs: restMs,
  };
}

/**
 * Has a policy engine just said no?
 *
 * @module
 */
import type { GuardVerdict } from "./guard.ts";
import type { RightsizingFacts } from "./rightsizing_facts.ts";

/** Holds with the engine's own words until it may be asked again. */
export function lastDenialHolds({ denial, nowMs }: RightsizingFacts): GuardVerdict {
  if (denial === undefined || nowMs >= denial.retryAtMs) return undefined;
  const { message, retryAtMs } = denial;
  return {
    verdict: "hold",
    reason: "AdmissionDenied",
    message,
    retryAfterMs: retryAtMs - nowMs,
  };
}

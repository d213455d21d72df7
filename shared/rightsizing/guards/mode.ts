/**
 * Does the policy want anything applied?
 *
 * @module
 */
import type { GuardVerdict } from "./guard.ts";
import type { RightsizingFacts } from "./rightsizing_facts.ts";

/** Holds in any mode but Auto. */
export function modeHolds({ policy: { mode } }: RightsizingFacts): GuardVerdict {
  if (mode === "Auto") return undefined;
  const reason = mode === "Disabled" ? "PolicyDisabled" : "RecommendOnly";
  return { verdict: "hold", reason, message: `the policy's mode is ${mode}` };
}

/**
 * Does the pod take part?
 *
 * @module
 */
import type { EnforcementInput, Verdict } from "../check.ts";

/** Holds with the reason for which the pod takes no part. */
export function outOfScope({ outOfScope }: EnforcementInput): Verdict {
  return outOfScope === undefined ? undefined : { verdict: "hold", ...outOfScope };
}

/**
 * May the controller do it?
 *
 * @module
 */
import { methodFor } from "../../actuation/methods/choose_method.ts";
import type { GuardVerdict } from "./guard.ts";
import type { RightsizingFacts } from "./rightsizing_facts.ts";
import type { WantedResources } from "./wanted_resources.ts";

/**
 * Holds where the permission for the method is known to be missing. It does not turn to the other
 * method: who allows recreation has allowed it for what can't be done in place, not for want of a right.
 */
export function permissionMissing(
  facts: RightsizingFacts,
  wanted: WantedResources,
): GuardVerdict {
  const method = methodFor(facts, wanted);
  const missing = facts.missingPermissions.filter((one) => one.method === method);
  if (missing.length === 0) return undefined;
  const message = `missing: ${missing.map(({ permission }) => permission).join(", ")}`;
  return { verdict: "hold", reason: "RBACError", message };
}

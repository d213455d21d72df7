/**
 * Does the configuration let anybody apply anything?
 *
 * @module
 */
import type { GuardVerdict } from "./guard.ts";
import type { RightsizingFacts } from "./rightsizing_facts.ts";

/** Holds while the configuration asks for a dry-run. */
export function dryRunHolds({ dryRun }: RightsizingFacts): GuardVerdict {
  if (!dryRun) return undefined;
  return { verdict: "hold", reason: "DryRun", message: "the configuration asks for a dry-run" };
}

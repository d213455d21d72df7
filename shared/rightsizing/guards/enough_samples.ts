/**
 * Do the recommendations stand on enough?
 *
 * @module
 */
import { ownContainers } from "../rightsized_workload.ts";
import type { GuardVerdict } from "./guard.ts";
import type { RightsizingFacts } from "./rightsizing_facts.ts";
import type { WantedResources } from "./wanted_resources.ts";

/**
 * Holds where there is no recommendation at all, and names the samples of all containers that lack some.
 * It is asked before the modes that only recommend: what they show would be nothing. A container that
 * lacks samples beside others has no recommendation, and is told in each mode. A disabled policy has
 * nothing because nobody asked.
 */
export function samplesLacking(facts: RightsizingFacts, wanted: WantedResources): GuardVerdict {
  const { policy: { mode }, workload } = facts;
  if (mode === "Disabled") return undefined;
  const lacking = ownContainers(workload).flatMap(({ name }) => lackOf(name, facts) ?? []);
  if (wanted.size > 0 && lacking.length === 0) return undefined;
  const message = lacking.length === 0 ? "there is no recommendation" : lacking.join("; ");
  const verdict = wanted.size === 0 ? "hold" : "tell";
  return { verdict, reason: "InsufficientSamples", message };
}

/** Of nothing there is no percentile, whatever a policy may say. */
function lackOf(
  container: string,
  { policy: { minSamples }, samples }: RightsizingFacts,
): string | undefined {
  const have = samples.get(container) ?? 0;
  const need = Math.max(1, minSamples);
  return have < need ? `${container} has ${have} of ${need} samples` : undefined;
}

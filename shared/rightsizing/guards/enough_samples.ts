/**
 * Do the recommendations stand on enough?
 *
 * @module
 */
import { ownContainers } from "../rightsized_workload.ts";
import { type GuardVerdict, withoutPairs } from "./guard.ts";
import type { RightsizingFacts } from "./rightsizing_facts.ts";
import type { WantedResources } from "./wanted_resources.ts";

/**
 * Holds where there is no recommendation at all, and names the samples of all containers. It is asked
 * before the modes that only recommend: what they show would be nothing. A disabled policy has nothing
 * because nobody asked.
 */
export function nothingRecommended(facts: RightsizingFacts, wanted: WantedResources): GuardVerdict {
  const { policy: { mode }, workload } = facts;
  if (wanted.size > 0 || mode === "Disabled") return undefined;
  const lacking = ownContainers(workload).flatMap(({ name }) => lackOf(name, facts) ?? []);
  const message = lacking.length === 0 ? "there is no recommendation" : lacking.join("; ");
  return { verdict: "hold", reason: "InsufficientSamples", message };
}

/** Leaves out containers with fewer samples than the policy asks for. */
export function tooFewSamples(facts: RightsizingFacts, wanted: WantedResources): GuardVerdict {
  return withoutPairs(wanted, "InsufficientSamples", {
    against: ({ container }) => lackOf(container, facts),
  });
}

function lackOf(
  container: string,
  { policy: { minSamples }, samples }: RightsizingFacts,
): string | undefined {
  const have = samples.get(container) ?? 0;
  return have < minSamples ? `${container} has ${have} of ${minSamples} samples` : undefined;
}

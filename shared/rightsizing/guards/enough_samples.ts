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
 * Leaves out containers with fewer samples than the policy asks for. Without any recommendation it
 * holds, and names the samples of all containers.
 */
export function tooFewSamples(
  { policy: { minSamples }, samples, workload }: RightsizingFacts,
  wanted: WantedResources,
): GuardVerdict {
  const words = (container: string): string | undefined => {
    const have = samples.get(container) ?? 0;
    return have < minSamples ? `${container} has ${have} of ${minSamples} samples` : undefined;
  };
  if (wanted.size > 0) {
    return withoutPairs(wanted, "InsufficientSamples", {
      against: ({ container }) => words(container),
    });
  }
  const own = ownContainers(workload);
  const lacking = own.flatMap(({ name }) => words(name) ?? []);
  const message = lacking.length === 0 ? "there is no recommendation" : lacking.join("; ");
  return { verdict: "hold", reason: "InsufficientSamples", message };
}

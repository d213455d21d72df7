/**
 * Does an HPA divide usage by the request?
 *
 * @module
 */
import type { HorizontalPodAutoscaler, MemoryTarget } from "../../api/autoscalers.ts";
import type { ResourceName } from "../distribution.ts";
import { type GuardVerdict, withoutPairs } from "./guard.ts";
import type { RightsizingFacts } from "./rightsizing_facts.ts";
import type { WantedResources } from "./wanted_resources.ts";

/**
 * Leaves the CPU or the memory of containers alone whose utilisation an HPA looks at, unless the policy
 * takes them in all the same: with another request the HPA would see another utilisation for the same
 * load, and scale; and with less usage in each of more pods, the next recommendation would be less again.
 * Their limit stays too, since it caps the usage that the HPA sees. The other resource goes on.
 */
export function horizontalAutoscalerConflicts(
  { autoscalers, policy }: RightsizingFacts,
  wanted: WantedResources,
): GuardVerdict {
  if (policy.updateStrategy.allowWithHPA) return undefined;
  return withoutPairs(wanted, "HPAConflict", {
    against: ({ container, resource }) => {
      const acting = autoscalers.find((one) =>
        sharesOf(one, resource).some((target) => (target.container ?? container) === container)
      );
      return acting &&
        `HPA ${acting.metadata.name} divides the ${RESOURCE_WORDS[resource]} usage ` +
          `of ${container} by its request, which stays`;
    },
  });
}

const RESOURCE_WORDS = { cpu: "CPU", memory: "memory" } as const;

/** What it divides by requests. */
function sharesOf(
  { cpuTargets, memoryTargets = [] }: HorizontalPodAutoscaler,
  resource: ResourceName,
): readonly MemoryTarget[] {
  if (resource === "memory") return memoryTargets;
  return cpuTargets.filter(({ utilization }) => utilization !== undefined);
}

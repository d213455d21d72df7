/**
 * Does an HPA divide usage by the request?
 *
 * @module
 */
import { type GuardVerdict, withoutPairs } from "./guard.ts";
import type { RightsizingFacts } from "./rightsizing_facts.ts";
import type { WantedResources } from "./wanted_resources.ts";

/**
 * Leaves the CPU of containers alone whose utilisation an HPA looks at, unless the policy takes them in
 * all the same: with another request the HPA would see another utilisation for the same load, and
 * scale. Their limit stays too, since it caps the usage that the HPA sees. Memory goes on.
 */
export function horizontalAutoscalerConflicts(
  { autoscalers, policy }: RightsizingFacts,
  wanted: WantedResources,
): GuardVerdict {
  if (policy.updateStrategy.allowWithHPA) return undefined;
  return withoutPairs(wanted, "HPAConflict", {
    against: ({ container, resource }) => {
      if (resource !== "cpu") return undefined;
      const acting = autoscalers.find(({ cpuTargets }) =>
        cpuTargets.some((target) =>
          target.utilization !== undefined && (target.container ?? container) === container
        )
      );
      return acting && `HPA ${acting.metadata.name} divides the CPU usage of ${container} by its ` +
          "request, which stays";
    },
  });
}

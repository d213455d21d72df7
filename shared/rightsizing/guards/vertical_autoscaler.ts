/**
 * Does a VPA set these resources?
 *
 * @module
 */
import { setsCPU } from "../../actuation/vpa_cpu.ts";
import { type GuardVerdict, withoutPairs } from "./guard.ts";
import type { RightsizingFacts } from "./rightsizing_facts.ts";
import type { WantedResources } from "./wanted_resources.ts";

/**
 * Leaves alone what a VPA in any mode but `Off` sets. What its policies say of memory is not read, so
 * memory is taken for its own; CPU that it does not control goes on.
 */
export function verticalAutoscalerConflicts(
  { verticalAutoscalers }: RightsizingFacts,
  wanted: WantedResources,
): GuardVerdict {
  return withoutPairs(wanted, "VPAConflict", {
    against: ({ container, resource }) => {
      const acting = verticalAutoscalers.find((one) =>
        one.updateMode !== "Off" && (resource === "memory" || setsCPU(one, [container]))
      );
      if (acting === undefined) return undefined;
      const { target: { kind, name }, updateMode, metadata } = acting;
      return `VPA ${metadata.name}, mode ${updateMode}, sets the resources of ${kind} ${name}`;
    },
  });
}

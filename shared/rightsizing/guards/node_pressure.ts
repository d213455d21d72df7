/**
 * Has a node enough to spare for raises?
 *
 * @module
 */
import { type GuardVerdict, withoutPairs } from "./guard.ts";
import type { RightsizingFacts } from "./rightsizing_facts.ts";
import { containersWanted, presentSubjects } from "./subjects.ts";
import { pairOf, type WantedResources } from "./wanted_resources.ts";

/**
 * Leaves out raises while a node of the workload's pods is short of memory, disk or process IDs.
 * Decreases go on: they help.
 */
export function nodeUnderPressure(
  facts: RightsizingFacts,
  wanted: WantedResources,
): GuardVerdict {
  const pressed = presentSubjects(facts, "InPlace").flatMap((subject) => {
    const pressures = facts.nodes.get(subject.nodeName ?? "")?.pressures ?? [];
    return pressures.length === 0 ? [] : [{ subject, pressures }];
  });
  return withoutPairs(wanted, "NodePressure", {
    against: ({ container, resource }) => {
      for (const { subject, pressures } of pressed) {
        const index = subject.containers.findIndex(({ name }) => name === container);
        const present = pairOf(subject.containers[index] ?? {}, resource);
        const after = pairOf(containersWanted(subject, wanted)[index] ?? {}, resource);
        const raises = (after.request ?? 0) > (present.request ?? 0) ||
          (after.limit ?? Infinity) > (present.limit ?? Infinity);
        if (!raises) continue;
        return `no raise of ${container} ${resource}: node ${subject.nodeName} has ` +
          pressures.join(", ");
      }
      return undefined;
    },
  });
}

/**
 * Has a node as much as a pod would ask for?
 *
 * @module
 */
import { methodFor } from "../../actuation/methods/choose_method.ts";
import { podTotal } from "../../actuation/pod_total.ts";
import type { ResourceName } from "../distribution.ts";
import { cutValues } from "./cut_values.ts";
import type { GuardVerdict } from "./guard.ts";
import type { KnownNode, RightsizingFacts } from "./rightsizing_facts.ts";
import { containersWanted, presentSubjects } from "./subjects.ts";
import { fieldOf, formatAmount, RESOURCE_NAMES, type WantedResources } from "./wanted_resources.ts";

/**
 * Cuts requests in running pods to what the pod's node has for all its pods, though not below the
 * template's: a kubelet calls more infeasible and never tries again, and new pods that ask for it would
 * find no node. What other pods take is not counted: the kubelet waits for that.
 */
export function overNodes(facts: RightsizingFacts, wanted: WantedResources): GuardVerdict {
  if (methodFor(facts, wanted) !== "InPlace") return undefined;
  const words: string[] = [];
  let fitting = wanted;
  for (const subject of presentSubjects(facts, "InPlace")) {
    const node = facts.nodes.get(subject.nodeName ?? "");
    for (const resource of RESOURCE_NAMES) {
      const most = capacityOf(node, resource);
      const field = fieldOf(resource, "request");
      const after = { ...subject, containers: containersWanted(subject, fitting) };
      const total = podTotal(after, field) ?? 0;
      if (total <= most) continue;
      const base = (container: string): number =>
        facts.workload.template.containers.find(({ name }) => name === container)?.[field] ?? 0;
      const cut = cutValues(fitting, { resource, side: "request", base, excess: total - most });
      if (cut === fitting) continue;
      fitting = cut;
      words.push(
        `node ${subject.nodeName} has ${formatAmount(resource, most)} of ${resource}, ` +
          `${subject.name} would request ${formatAmount(resource, total)}`,
      );
    }
  }
  if (words.length === 0) return undefined;
  return { verdict: "clamp", reason: "NodeCapacity", message: words.join("; "), wanted: fitting };
}

/** Infinity where nobody tells. */
function capacityOf(node: KnownNode | undefined, resource: ResourceName): number {
  const capacity = resource === "cpu" ? node?.allocatableCPU : node?.allocatableMemory;
  return capacity || Infinity;
}

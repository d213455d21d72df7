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
import { nodeShortages } from "./node_room.ts";
import type { RightsizingFacts } from "./rightsizing_facts.ts";
import { containersWanted, presentSubjects, type Subject } from "./subjects.ts";
import {
  entriesInForce,
  fieldOf,
  formatAmount,
  wantedOf,
  type WantedResources,
} from "./wanted_resources.ts";

/**
 * Cuts requests to what a node has for all its pods, though not below the template's: of running pods
 * their own, since a kubelet calls more infeasible and never tries again, and of those to come the
 * largest, since more would find no node. What other pods take is not counted: the kubelet waits for
 * that.
 *
 * A pod that lacks what is in force, on a node that has too little for it, cuts nothing: it stays as it
 * is (see `inPlacePlan()`), and that is told. All the others would be lowered for its sake.
 */
export function overNodes(facts: RightsizingFacts, wanted: WantedResources): GuardVerdict {
  const method = methodFor(facts, wanted);
  if (method === undefined) return undefined;
  const words: string[] = [];
  let fitting = wanted;
  for (const subject of presentSubjects(facts, method)) {
    const { name, nodeName } = subject;
    const [who, node] = nodeName === undefined
      ? ["the largest node", facts.largestNode] as const
      : [`node ${nodeName}`, facts.nodes.get(nodeName)] as const;
    const after = { ...subject, containers: containersWanted(subject, fitting) };
    for (const { resource, most, total } of nodeShortages(after, node)) {
      const word = `${who} has ${formatAmount(resource, most)} of ${resource}, ${name} would ` +
        `request ${formatAmount(resource, total)}`;
      if (isBehind(subject, resource, { facts })) {
        words.push(`${word}, and stays as it is`);
        continue;
      }
      const field = fieldOf(resource, "request");
      const base = (container: string): number =>
        facts.workload.template.containers.find((one) => one.name === container)?.[field] ?? 0;
      const cut = cutValues(fitting, { resource, side: "request", base, excess: total - most });
      if (cut === fitting) continue;
      fitting = cut;
      words.push(word);
    }
  }
  if (words.length === 0) return undefined;
  const told = { reason: "NodeCapacity", message: words.join("; ") } as const;
  return fitting === wanted
    ? { verdict: "tell", ...told }
    : { verdict: "clamp", ...told, wanted: fitting };
}

/** Whether a running pod requests less of it than is in force. */
function isBehind(
  subject: Subject,
  resource: ResourceName,
  { facts: { inForce } }: { readonly facts: Pick<RightsizingFacts, "inForce"> },
): boolean {
  if (subject.nodeName === undefined) return false;
  const containers = containersWanted(subject, wantedOf(entriesInForce(inForce)));
  const field = fieldOf(resource, "request");
  return (podTotal({ ...subject, containers }, field) ?? 0) > (podTotal(subject, field) ?? 0);
}

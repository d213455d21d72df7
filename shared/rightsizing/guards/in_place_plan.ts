/**
 * What a resize in place sends to each pod.
 *
 * @module
 */
import {
  NO_RESOURCES,
  type Pod,
  type ResourceAmounts,
  type Resources,
  withResources,
} from "../../api/pod.ts";
import type { RightsizingFacts } from "../../rightsizing/guards/rightsizing_facts.ts";
import { isTooMuch } from "../../resize/checks/node_capacity.ts";
import { containersWanted, limitsOf, ownFields } from "../../resize/inputs/subject.ts";
import { presentSubjects } from "../../rightsizing/guards/subjects.ts";
import { byResource, hasAmounts, type WantedResources } from "../../resize/inputs/resources.ts";
import type { ResourceChange } from "../../resize/patch.ts";

/** One pod and its changes. */
export interface PlannedPod {
  readonly pod: Pod;
  /** One at least; only values that differ. */
  readonly changes: readonly ResourceChange[];
}

/** What is to be done, and what is from then on in force. */
export interface InPlacePlan {
  readonly pods: readonly PlannedPod[];
  /**
   * New own limits, millicores by container, where the market owns `limits.cpu` of the pods: the base
   * of their ceilings. Empty where the limit is patched itself.
   */
  readonly originalLimits: ReadonlyMap<string, number>;
  /** What new pods of the workload get, by container: with it, a pod is made as the others are. */
  readonly inForce: ReadonlyMap<string, Resources>;
}

/**
 * The plan for wanted values that all guards have let pass. Pods that have them already are left out,
 * and those on a node with too little for them: a kubelet would call that infeasible, and never try
 * again.
 */
export function inPlacePlan(facts: RightsizingFacts, wanted: WantedResources): InPlacePlan {
  const subjects = presentSubjects(facts, "InPlace");
  const pods = facts.pods.flatMap((pod, index): PlannedPod[] => {
    const subject = subjects[index];
    if (subject === undefined) return [];
    const after = containersWanted(subject, wanted);
    if (isTooMuch(subject, { after, node: facts.nodes.get(pod.nodeName) })) return [];
    const changes = pod.containers.flatMap((present, at): ResourceChange[] => {
      const values = wanted.get(present.name);
      const next = after[at];
      if (values === undefined || next === undefined || next === present) return [];
      const own = ownFields(subject, values);
      const changes = {
        requests: changedAmounts(present.requests, own.requests),
        limits: changedAmounts(present.limits, own.limits),
      };
      const { name, sidecar } = present;
      return hasAmounts(changes) ? [{ name, sidecar, ...changes }] : [];
    });
    return changes.length === 0 ? [] : [{ pod, changes }];
  });
  const inForce = new Map(facts.inForce);
  for (const [name, values] of wanted) {
    inForce.set(name, withResources(inForce.get(name) ?? NO_RESOURCES, values));
  }
  return { pods, originalLimits: facts.marketManages ? limitsOf(wanted) : new Map(), inForce };
}

/** The amounts that the container does not have yet. */
function changedAmounts(present: ResourceAmounts, wanted: ResourceAmounts): ResourceAmounts {
  return byResource((name) => wanted[name] === present[name] ? undefined : wanted[name]);
}

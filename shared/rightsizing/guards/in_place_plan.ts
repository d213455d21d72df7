/**
 * What a resize in place sends to each pod.
 *
 * @module
 */
import type { Pod, Resources } from "../../api/pod.ts";
import type { RightsizingFacts } from "../../rightsizing/guards/rightsizing_facts.ts";
import { isTooMuch } from "../../resize/checks/node_capacity.ts";
import { containersWanted, limitsOf, ownFields } from "../../resize/inputs/subject.ts";
import { presentSubjects } from "../../rightsizing/guards/subjects.ts";
import type { WantedResources } from "../../resize/inputs/resources.ts";
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

const FIELDS = ["requestCPU", "requestMemory", "limitCPU", "limitMemory"] as const;

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
      const fields = changedFields(present, ownFields(subject, values));
      const { name, sidecar } = present;
      return Object.keys(fields).length === 0 ? [] : [{ name, sidecar, ...fields }];
    });
    return changes.length === 0 ? [] : [{ pod, changes }];
  });
  const inForce = new Map(facts.inForce);
  for (const [name, values] of wanted) {
    inForce.set(name, { ...inForce.get(name), ...values });
  }
  return { pods, originalLimits: facts.marketManages ? limitsOf(wanted) : new Map(), inForce };
}

/** Those of the fields that are not there yet. */
function changedFields(present: Resources, fields: Resources): Resources {
  const changed = FIELDS.flatMap((field) => {
    const value = fields[field];
    return value === undefined || value === present[field] ? [] : [[field, value] as const];
  });
  return Object.fromEntries(changed);
}

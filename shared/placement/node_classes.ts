/**
 * Which nodes are spot, and what makes a pod run there: one setting for both.
 *
 * @module
 */
import { type Labels, type LabelSelector, labelsMatch } from "../api/label_selector.ts";
import type { NodeClass } from "./node_class.ts";

/** A toleration, as it stands in a pod. */
export interface Toleration {
  readonly key?: string;
  readonly operator?: "Exists" | "Equal";
  readonly value?: string;
  readonly effect?: "NoSchedule" | "PreferNoSchedule" | "NoExecute";
  readonly tolerationSeconds?: number;
}

/** The nodes of one class. */
export interface ClassNodes {
  /**
   * One of them is enough. Pods are sent to the nodes of the first, which therefore has `matchLabels`
   * alone; the others are for nodes that are labelled in another way.
   */
  readonly selectors: readonly LabelSelector[];
  /** What pods of the class tolerate. */
  readonly tolerations: readonly Toleration[];
}

/** The setting. Without selectors of on-demand, it is taints alone that keep its pods off spot nodes. */
export type NodeClasses = Readonly<Record<NodeClass, ClassNodes>>;

/** The class of a node: on-demand, unless one of the selectors of spot matches. */
export function nodeClassOf(nodeLabels: Labels, classes: NodeClasses): NodeClass {
  return classes.spot.selectors.some((one) => labelsMatch(nodeLabels, one)) ? "spot" : "on-demand";
}

/** The `nodeSelector` that sends a pod to nodes of the class. */
export function selectorOf(one: NodeClass, classes: NodeClasses): Labels {
  return classes[one].selectors[0]?.matchLabels ?? {};
}

/** Keys of labels that tell classes apart. */
export function capacityKeys(classes: NodeClasses): ReadonlySet<string> {
  return new Set(
    [...classes.spot.selectors, ...classes["on-demand"].selectors].flatMap((one) => [
      ...Object.keys(one.matchLabels),
      ...one.matchExpressions.map(({ key }) => key),
    ]),
  );
}

/** What is wrong with the setting, a sentence each, beginning with its path; none where it can be used. */
export function nodeClassesFaults(classes: NodeClasses): readonly string[] {
  const faults: string[] = [];
  for (const one of ["spot", "on-demand"] as const) {
    const [first] = classes[one].selectors;
    if (first === undefined) continue;
    if (Object.keys(first.matchLabels).length === 0 || first.matchExpressions.length > 0) {
      faults.push(`${one}.selectors[0] must have matchLabels alone: pods are sent to nodes by it`);
    }
  }
  if (classes.spot.selectors.length === 0) {
    faults.push("spot.selectors must name at least one selector");
  }
  if (classes["on-demand"].selectors.length === 0 && classes.spot.tolerations.length === 0) {
    faults.push(
      "on-demand.selectors must name at least one selector where spot.tolerations has no taint " +
        "that keeps on-demand pods off spot nodes",
    );
  }
  if (faults.length === 0 && selectsSpot(classes)) {
    faults.push("on-demand.selectors[0] must not select what spot.selectors select");
  }
  return faults;
}

/** Whether on-demand pods would be sent to spot nodes, too; a taint that only spot pods tolerate keeps them off. */
function selectsSpot(classes: NodeClasses): boolean {
  const { spot, "on-demand": onDemand } = classes;
  if (nodeClassOf(selectorOf("on-demand", classes), classes) === "spot") return true;
  const [first] = onDemand.selectors;
  return first !== undefined && spot.tolerations.length === 0 &&
    labelsMatch(selectorOf("spot", classes), first);
}

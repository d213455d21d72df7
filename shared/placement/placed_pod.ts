/**
 * A pod of a workload, as placement looks at it.
 *
 * @module
 */
import type { Labels } from "../api/label_selector.ts";
import { CAPACITY } from "../api/placement_keys.ts";
import type { ClassCounts, NodeClass } from "./node_class.ts";
import { type NodeClasses, nodeClassOf, selectorOf } from "./node_classes.ts";

/** The pod, with what its node tells of it. */
export interface PlacedPod {
  readonly uid: string;
  readonly name: string;
  /** See {@linkcode revisionOf}. */
  readonly revision: string;
  /** See {@linkcode podClassOf}. */
  readonly class: NodeClass;
  /** True while it is deleted, has finished, or its node is about to go: it counts for nothing. */
  readonly gone: boolean;
  /** Why its node is about to go, see `departureOf()`; absent where it stays, or the pod goes already. */
  readonly departs?: string;
  /** True where whoever takes that node away drains it, see `NodeDeparture`; absent where not. */
  readonly drained?: boolean;
  /** When that was first seen of the node, ms since 1970; absent where nobody has looked before. */
  readonly departsSinceMs?: number;
  /** Since when no node was found for it, ms since 1970; absent where it has one, or just began. */
  readonly unschedulableSinceMs?: number;
  /** False until it has a node. */
  readonly scheduled: boolean;
  readonly ready: boolean;
  /** True where its node takes no more pods. */
  readonly cordoned: boolean;
  /** A whole second, ms since 1970: it was made in that. */
  readonly createdAtMs: number;
  /** Why it must stay where it is, see `boundBy()`; absent where it may go. */
  readonly bound?: string;
  /** Why a budget would not let it go, see `budgetRefusal()`; absent where none minds. */
  readonly budget?: string;
  /** Its annotation `controller.kubernetes.io/pod-deletion-cost`; absent where it has none. */
  readonly deletionCost?: number;
}

/** What tells a pod's class. */
export interface ClassedPod {
  readonly labels: Labels;
  readonly nodeSelector: Labels;
  /** Labels of its node; absent while it has none, or where the node is not known. */
  readonly nodeLabels?: Labels | undefined;
}

/** The second of a time, ms: API servers tell no more of when a pod was made. */
export function secondOf(ms: number): number {
  return Math.floor(ms / 1000) * 1000;
}

/** The hash of the template that a pod was made of: a ReplicaSet's, or a StatefulSet's revision. */
export function revisionOf(labels: Labels): string {
  return labels["pod-template-hash"] ?? labels["controller-revision-hash"] ?? "";
}

/**
 * The class of the pod's node; while it has none, the class it was made for, by its selector, or by its
 * label where that class has no selector. One that was made for neither counts as on-demand, as a node
 * without labels does.
 */
export function podClassOf(
  { labels, nodeSelector, nodeLabels }: ClassedPod,
  classes: NodeClasses,
): NodeClass {
  if (nodeLabels !== undefined) return nodeClassOf(nodeLabels, classes);
  if (nodeClassOf(nodeSelector, classes) === "spot") return "spot";
  const asked = Object.keys(selectorOf("on-demand", classes)).some((key) =>
    Object.hasOwn(nodeSelector, key)
  );
  return !asked && labels[CAPACITY] === "spot" ? "spot" : "on-demand";
}

/**
 * Whether it is still there for users: one on a node that is drained runs for as long as whoever drains it
 * leaves it there, which may be hours. Placement counts it as gone, as its successor is to be elsewhere.
 */
export function isPresent({ gone, drained }: Pick<PlacedPod, "gone" | "drained">): boolean {
  return !gone || drained === true;
}

/** How many of the pods that are {@linkcode isPresent | present} have a node, by its class; not all are Ready. */
export function runningByClass(pods: readonly PlacedPod[]): ClassCounts {
  return countByClass(
    pods.filter((pod) => pod.scheduled && isPresent(pod))
      .map(({ class: one }) => ({ class: one, gone: false })),
  );
}

/** How many of the pods wait for a node, by the class that they were made for. */
export function waitingByClass(pods: readonly PlacedPod[]): ClassCounts {
  return countByClass(pods.filter(({ scheduled }) => !scheduled));
}

/** How many of the pods there are by class, without those that are gone. */
export function countByClass(pods: Iterable<Pick<PlacedPod, "class" | "gone">>): ClassCounts {
  const counts = { spot: 0, "on-demand": 0 };
  for (const pod of pods) if (!pod.gone) counts[pod.class]++;
  return counts;
}

/**
 * A pod as placement sees it: its class of nodes, and whether it counts.
 *
 * @module
 */
import type { Node } from "../api/node.ts";
import { CAPACITY } from "../api/placement_keys.ts";
import { isFinished, type Pod } from "../api/pod.ts";
import type { Labels } from "../api/label_selector.ts";
import {
  type ClassCounts,
  type NodeClass,
  type NodeClasses,
  nodeClassOf,
  selectorOf,
} from "./node_classes.ts";
import { departureOf, type DepartureSigns } from "./node_departure.ts";

/** The pod and the state of its node. Times are ms since 1970. */
export interface PlacedPod {
  readonly uid: string;
  readonly name: string;
  /** See {@linkcode revisionOf}. */
  readonly revision: string;
  /** See {@linkcode classifyPod}. */
  readonly class: NodeClass;
  /** True once it is deleted, has ended, or its node is about to go: it does not count. */
  readonly gone: boolean;
  /** The sign that its node is about to go, see `departureOf()`; absent if the pod ends anyway. */
  readonly departs?: string;
  /** True if that node is drained, see `NodeDeparture`. */
  readonly drained?: boolean;
  /** When the node first had the sign; absent if that is not known. */
  readonly departsSinceMs?: number;
  /** Since when it finds no node; absent if it has one, or was just created. */
  readonly unschedulableSinceMs?: number;
  /** The name of its node; empty until it has one. */
  readonly node: string;
  /** False until it has a node. */
  readonly scheduled: boolean;
  readonly ready: boolean;
  /** True if its node is cordoned. */
  readonly cordoned: boolean;
  /** A whole second. */
  readonly createdAtMs: number;
  /** Why it must stay where it is, see `pinnedBy()` and `protectedBy()`; absent if it may move. */
  readonly pinned?: string;
  /** Why a budget does not allow its eviction, see `budgetRefusal()`. */
  readonly budget?: string;
  /** Its annotation `controller.kubernetes.io/pod-deletion-cost`. */
  readonly deletionCost?: number;
}

/** The second of a time, ms: creation times are no finer. */
export function secondOf(ms: number): number {
  return Math.floor(ms / 1000) * 1000;
}

/** The hash of the pod's template: a ReplicaSet's, or a StatefulSet's revision. */
export function revisionOf(labels: Labels): string {
  return labels["pod-template-hash"] ?? labels["controller-revision-hash"] ?? "";
}

/**
 * True for a pod that still serves users. On a drained node it may run for hours, though placement counts it as
 * gone, as its replacement should be elsewhere.
 */
export function isPresent({ gone, drained }: Pick<PlacedPod, "gone" | "drained">): boolean {
  return !gone || drained === true;
}

/** How many {@linkcode isPresent | present} pods have a node, by its class. */
export function runningByClass(pods: readonly PlacedPod[]): ClassCounts {
  return countByClass(pods.filter((pod) => pod.scheduled && isPresent(pod)));
}

/** How many pods wait for a node, by the class that they were created for. */
export function waitingByClass(pods: readonly PlacedPod[]): ClassCounts {
  return countByClass(pods.filter(({ scheduled, gone }) => !scheduled && !gone));
}

/** How many pods there are by class. */
export function countByClass(pods: Iterable<Pick<PlacedPod, "class">>): ClassCounts {
  const counts = { spot: 0, "on-demand": 0 };
  for (const pod of pods) counts[pod.class]++;
  return counts;
}

/** The settings that decide how pods count. */
export interface NodeRules {
  /** Which nodes are spot; the same object while it does not change. */
  readonly nodeClassifier: NodeClasses;
  /** Signs that a node is about to go. */
  readonly departureSigns: DepartureSigns;
}

/** The state around a pod. */
export interface PodInput extends NodeRules {
  /** Undefined if it has no node, or the node is not known. */
  readonly node: Node | undefined;
  /** True if it was evicted, even if the cache still has it. */
  readonly evicted: boolean;
}

/** The fields on which webhook and loop must agree. */
export type ClassifiedPod = Pick<
  PlacedPod,
  "uid" | "name" | "revision" | "class" | "gone" | "departs" | "drained" | "scheduled"
>;

/** Classifies a pod, for webhook and loop alike. */
export function classifyPod(
  { metadata: { uid, name, labels, terminating }, nodeName, phase, nodeSelector = {} }: Pod,
  { node, nodeClassifier: classes, departureSigns, evicted }: PodInput,
): ClassifiedPod {
  const ended = terminating || isFinished({ phase }) || evicted;
  const departure = ended || node === undefined ? undefined : departureOf(node, departureSigns);
  return {
    uid,
    name,
    revision: revisionOf(labels),
    // A known node without labels is on-demand.
    class: node === undefined
      ? requestedClass({ labels, nodeSelector }, classes)
      : nodeClassOf(node.labels ?? {}, classes),
    gone: ended || departure !== undefined,
    ...(departure === undefined ? {} : { departs: departure.sign }),
    ...(departure?.drained ? { drained: true } : {}),
    scheduled: nodeName !== "",
  };
}

/**
 * The class that the pod's selector asks for, or its label if that class has no selector. A pod that asks for
 * neither counts as on-demand, as a node without labels does.
 */
function requestedClass(
  { labels, nodeSelector }: { readonly labels: Labels; readonly nodeSelector: Labels },
  classes: NodeClasses,
): NodeClass {
  if (nodeClassOf(nodeSelector, classes) === "spot") return "spot";
  const asksForOnDemand = Object.keys(selectorOf("on-demand", classes)).some((key) =>
    Object.hasOwn(nodeSelector, key)
  );
  return !asksForOnDemand && labels[CAPACITY] === "spot" ? "spot" : "on-demand";
}

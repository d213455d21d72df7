/**
 * Turns API objects into the workload and the pods that placement decides on.
 *
 * @module
 */
import type { Namespace } from "../../shared/api/namespace.ts";
import type { Pod } from "../../shared/api/pod.ts";
import type { PodDisruptionBudget } from "../../shared/api/pod_disruption_budget.ts";
import type { Workload } from "../../shared/api/workload.ts";
import type { ReplicaStatus } from "../../shared/placement/decide_move.ts";
import type { EligibilityInput } from "../../shared/placement/eligibility.ts";
import {
  type NodeClass,
  type NodeClasses,
  otherClass,
} from "../../shared/placement/node_classes.ts";
import {
  budgetRefusal,
  budgetsFor,
  knownNodes,
  pinnedBy,
  podConstraints,
  protectedBy,
  volumeConstraints,
} from "../../shared/placement/node_constraints.ts";
import { classifyPod, type NodeRules, type PlacedPod } from "../../shared/placement/placed_pod.ts";
import { DELETION_COST } from "../../shared/placement/split.ts";
import { podsOfWorkload, type ReadPlacementCaches } from "./caches.ts";

/** The input of `checkEligibility()`; the namespace is undefined while it is not known. */
export function eligibilityInput(
  { metadata: { namespace: name, labels = {}, annotations } }: Workload,
  namespace: Namespace | undefined,
): EligibilityInput {
  return { labels, annotations, namespace: { name, metadata: namespace?.metadata } };
}

/** The workload's replicas; undefined for a DaemonSet. */
export function replicaStatus({ kind, replicas }: Workload): ReplicaStatus | undefined {
  return kind === "DaemonSet" || replicas === undefined ? undefined : { kind, ...replicas };
}

/** The input of a pod's placement. */
export interface SnapshotInput {
  readonly caches: ReadPlacementCaches;
  readonly settings: () => NodeRules;
  /** UIDs of evicted pods, which the cache may still have. */
  readonly evicted: { has(uid: string): boolean };
  /** When the node first had the sign of its departure, ms since 1970; absent: unknown. */
  readonly signSinceMs?: (node: string, sign: string) => number;
}

/** All pods of the workload, including those that are gone, without budgets. */
export function placedPodsOf(workload: Workload, input: SnapshotInput): readonly PlacedPod[] {
  return podsOfWorkload(workload, input.caches).map((pod) => placedPod(pod, input));
}

/** One pod of a workload, without budgets. */
export function placedPod(
  pod: Pod,
  { caches, settings, evicted, signSinceMs }: SnapshotInput,
): PlacedPod {
  const { metadata: { uid, annotations }, nodeName, unschedulableSinceMs, ready } = pod;
  const node = nodeName === "" ? undefined : caches.nodes.get(nodeName);
  const { nodeClassifier: classes, departureSigns } = settings();
  const classified = classifyPod(pod, {
    ...{ node, nodeClassifier: classes, departureSigns },
    evicted: evicted.has(uid),
  });
  const { departs } = classified;
  const departsSinceMs = departs === undefined ? undefined : signSinceMs?.(nodeName, departs);
  // An annotation protects no pod without a node, and constraints none that loses its node anyway.
  const pinned = (nodeName === "" ? undefined : protectedBy(annotations)) ??
    (departs === undefined
      ? pinnedTo(pod, { caches, classes, to: otherClass(classified.class) })
      : undefined);
  const cost = Number(annotations[DELETION_COST] ?? NaN);
  return {
    ...classified,
    node: nodeName,
    ...(departsSinceMs === undefined ? {} : { departsSinceMs }),
    ...(nodeName !== "" || unschedulableSinceMs === undefined ? {} : { unschedulableSinceMs }),
    ready,
    cordoned: node?.cordoned === true,
    createdAtMs: pod.createdAtMs ?? 0,
    ...(pinned === undefined ? {} : { pinned }),
    ...(Number.isInteger(cost) ? { deletionCost: cost } : {}),
  };
}

function pinnedTo(
  pod: Pod,
  { caches, classes, to }: Pick<SnapshotInput, "caches"> & {
    readonly classes: NodeClasses;
    readonly to: NodeClass;
  },
): string | undefined {
  const { claims = [], metadata: { namespace } } = pod;
  const constraints = [
    ...podConstraints(pod),
    ...volumeConstraints({ namespace, claims }, (claim) => caches.volumes.byIndex(claim)),
  ];
  return pinnedBy(constraints, {
    to,
    classes,
    nodes: knownNodes(() => caches.nodes.all(), classes),
  });
}

/**
 * All pods of the workload, each with the reason why budgets do not allow its eviction. A namespace may have a
 * budget for each workload, so pods with the same labels are matched once.
 */
export function placedPodsWithBudgets(
  workload: Workload,
  input: SnapshotInput,
): readonly PlacedPod[] {
  const budgets = input.caches.budgets.byIndex(workload.metadata.namespace);
  const matched = new Map<string, readonly PodDisruptionBudget[]>();
  return podsOfWorkload(workload, input.caches).map((pod) => {
    const { metadata: { labels }, ready } = pod;
    const key = JSON.stringify(labels);
    const podBudgets = matched.get(key) ?? budgetsFor(labels, budgets);
    matched.set(key, podBudgets);
    const budget = budgetRefusal(podBudgets, ready);
    return { ...placedPod(pod, input), ...(budget === undefined ? {} : { budget }) };
  });
}

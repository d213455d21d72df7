/**
 * Turns API objects into the workload and the pods that placement decides on.
 *
 * @module
 */
import type { Namespace } from "../api/namespace.ts";
import type { Node, PersistentVolume } from "../api/node.ts";
import type { Pod } from "../api/pod.ts";
import type { PodDisruptionBudget } from "../api/pod_disruption_budget.ts";
import type { ReplicaSet, Workload } from "../api/workload.ts";
import { type Labels, labelsMatch } from "../api/label_selector.ts";
import { DELETION_COST } from "./split.ts";
import type { EligibilityInput } from "./eligibility.ts";
import type { ReplicaStatus } from "./decide_move.ts";
import { type NodeClass, otherClass } from "./node_classes.ts";
import {
  knownNodes,
  type NodeConstraint,
  pinnedBy,
  protectedBy,
  selectorConstraints,
  volumeConstraints,
} from "./node_constraints.ts";
import { classifyPod, type NodeRules, type PlacedPod } from "./placed_pod.ts";

/** The objects that placement reads. */
export interface PlacedObjects {
  /** By the UID of their controller. */
  replicaSetsOwnedBy(uid: string): readonly ReplicaSet[];
  /** By the UID of their controller. */
  podsOwnedBy(uid: string): readonly Pod[];
  node(name: string): Node | undefined;
  nodes(): Iterable<Node>;
  namespace(name: string): Namespace | undefined;
  budgetsIn(namespace: string): readonly PodDisruptionBudget[];
  /** Volumes of the claim, `namespace/name`. */
  volumesOf(claim: string): readonly PersistentVolume[];
}

/** The input of `checkEligibility()`. */
export function eligibilityInput(
  { metadata: { namespace: name, labels = {}, annotations } }: Workload,
  objects: Pick<PlacedObjects, "namespace">,
): EligibilityInput {
  const metadata = objects.namespace(name)?.metadata;
  return { labels, annotations, namespace: { name, metadata } };
}

/** The workload's replicas; undefined for a DaemonSet. */
export function replicaStatus({ kind, replicas }: Workload): ReplicaStatus | undefined {
  return kind === "DaemonSet" || replicas === undefined ? undefined : { kind, ...replicas };
}

/** Pods that the workload owns by the UIDs of the chain of controllers, whatever their labels are. */
export function podsOfWorkload(
  { kind, metadata: { uid, namespace } }: Workload,
  objects: Pick<PlacedObjects, "replicaSetsOwnedBy" | "podsOwnedBy">,
): readonly Pod[] {
  const owners = kind === "Deployment"
    ? objects.replicaSetsOwnedBy(uid).map(({ metadata }) => metadata.uid)
    : [uid];
  return owners.flatMap((owner) => objects.podsOwnedBy(owner))
    .filter(({ metadata }) => metadata.namespace === namespace);
}

/** The input of a pod's placement. */
export interface SnapshotInput {
  readonly objects: PlacedObjects;
  readonly config: NodeRules;
  /** UIDs of evicted pods, whatever a late cache shows. */
  readonly evicted: { has(uid: string): boolean };
  /** When the node first had the sign of its departure, ms since 1970; absent: unknown. */
  readonly signSinceMs?: (node: string, sign: string) => number;
}

/** All pods of the workload, including those that are gone, without budgets. */
export function placedPodsOf(workload: Workload, input: SnapshotInput): readonly PlacedPod[] {
  return podsOfWorkload(workload, input.objects).map((pod) => placedPod(pod, input));
}

/** One pod of a workload, without budgets. */
export function placedPod(
  pod: Pod,
  { objects, config, evicted, signSinceMs }: SnapshotInput,
): PlacedPod {
  const { metadata: { uid, annotations }, nodeName, unschedulableSinceMs, ready } = pod;
  const node = nodeName === "" ? undefined : objects.node(nodeName);
  const { classes, departures } = config;
  const classified = classifyPod(pod, { node, classes, departures, evicted: evicted.has(uid) });
  const { departs } = classified;
  const departsSinceMs = departs === undefined ? undefined : signSinceMs?.(nodeName, departs);
  // A pod that loses its node may as well move to the other class, and one without a node can't be disrupted.
  const pinned = (nodeName === "" ? undefined : protectedBy(annotations)) ??
    (departs === undefined
      ? pinnedTo(pod, { objects, classes, to: otherClass(classified.class) })
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
  { nodeSelector = {}, requiredNodes, claims = [], metadata: { namespace } }: Pod,
  { objects, classes, to }: Pick<SnapshotInput, "objects"> & Pick<NodeRules, "classes"> & {
    readonly to: NodeClass;
  },
): string | undefined {
  const constraints: readonly NodeConstraint[] = [
    ...selectorConstraints(nodeSelector),
    ...(requiredNodes === undefined ? [] : [{ what: "its affinity", terms: requiredNodes }]),
    ...volumeConstraints({ namespace, claims }, objects.volumesOf),
  ];
  return pinnedBy(constraints, { to, classes, nodes: knownNodes(objects.nodes, classes) });
}

/**
 * All pods of the workload, each with why budgets would not allow its eviction. A namespace may have a budget
 * for each workload, so pods with the same labels are matched once.
 */
export function placedPodsWithBudgets(
  workload: Workload,
  input: SnapshotInput,
): readonly PlacedPod[] {
  const budgets = input.objects.budgetsIn(workload.metadata.namespace);
  const matched = new Map<string, readonly PodDisruptionBudget[]>();
  return podsOfWorkload(workload, input.objects).map((pod) => {
    const { metadata: { labels }, ready } = pod;
    const key = JSON.stringify(labels);
    const own = matched.get(key) ?? budgetsFor(labels, budgets);
    matched.set(key, own);
    const budget = refusalBy(own, ready);
    return { ...placedPod(pod, input), ...(budget === undefined ? {} : { budget }) };
  });
}

/**
 * Why the server would refuse to evict the pod, in a sentence; undefined if it would not. It refuses pods
 * with several budgets, whatever these allow.
 */
export function budgetRefusal(
  { labels, ready }: { readonly labels: Labels; readonly ready: boolean },
  budgets: readonly PodDisruptionBudget[],
): string | undefined {
  return refusalBy(budgetsFor(labels, budgets), ready);
}

function budgetsFor(
  labels: Labels,
  budgets: readonly PodDisruptionBudget[],
): readonly PodDisruptionBudget[] {
  return budgets.filter(({ selector }) => selector !== undefined && labelsMatch(labels, selector));
}

function refusalBy(own: readonly PodDisruptionBudget[], ready: boolean): string | undefined {
  const [budget, second] = own;
  if (budget === undefined) return undefined;
  if (second !== undefined) {
    const names = own.map(({ metadata }) => metadata.name).join(", ");
    return `budgets ${names} are for the same pod, which can't be evicted`;
  }
  const { metadata: { name }, current, disruptionsAllowed, freesUnready } = budget;
  if (!current) return `budget ${name} has changed and is not counted yet`;
  if (disruptionsAllowed > 0 || (!ready && freesUnready)) return undefined;
  return `budget ${name} allows no disruption`;
}

/**
 * A workload and its pods, as placement looks at them: from objects to plain facts.
 *
 * @module
 */
import type { Namespace } from "../api/namespace.ts";
import type { Node } from "../api/node.ts";
import type { PersistentVolume } from "../api/persistent_volume.ts";
import type { Pod } from "../api/pod.ts";
import type { PodDisruptionBudget } from "../api/pod_disruption_budget.ts";
import type { ReplicaSet } from "../api/replica_set.ts";
import type { Workload } from "../api/workload.ts";
import {
  knownNodes,
  type NodeConstraint,
  pinnedBy,
  protectedBy,
  selectorConstraints,
  volumeConstraints,
} from "./node_constraints.ts";
import { DELETION_COST } from "./deletion_cost.ts";
import type { ReplicaStatus } from "./next_move.ts";
import { type NodeClass, otherClass } from "./node_classes.ts";
import { classifyPod, type NodeRules, type PlacedPod } from "./placed_pod.ts";
import type { EligibilityInput } from "./eligibility.ts";
import { labelsMatch } from "../rightsizing/label_match.ts";
import type { LabelSelector } from "../rightsizing/policy_spec.ts";

/** Objects by who controls them. */
export interface OwnedObjects<P extends Pick<Pod, "metadata"> = Pod> {
  /** Those that the Deployment of this UID controls. */
  replicaSetsOwnedBy(uid: string): readonly ReplicaSet[];
  /** Those that the object of this UID controls. */
  podsOwnedBy(uid: string): readonly P[];
}

/** The objects that there are, each found as it is asked for. */
export interface PlacedObjects extends OwnedObjects {
  node(name: string): Node | undefined;
  nodes(): Iterable<Node>;
  namespace(name: string): Namespace | undefined;
  budgetsIn(namespace: string): readonly PodDisruptionBudget[];
  /** Those that the claim has, `namespace/name`. */
  volumesOf(claim: string): readonly PersistentVolume[];
}

/** How pods are looked at. */
export interface SnapshotInput {
  readonly objects: PlacedObjects;
  readonly config: NodeRules;
  /** UIDs of pods that were evicted, whatever a late copy shows. */
  readonly evicted: { has(uid: string): boolean };
  /** When the sign was first seen on the node of this name, ms since 1970; absent: nobody has noted it. */
  readonly signSinceMs?: (node: string, sign: string) => number;
}

/** Who is asked about at the gate. */
export function eligibilityInput(
  { kind, metadata: { namespace, labels = {}, annotations } }: Workload,
  objects: Pick<PlacedObjects, "namespace">,
): EligibilityInput {
  const words = objects.namespace(namespace)?.metadata;
  return { kind, labels, annotations, namespace: { name: namespace, metadata: words } };
}

/** The workload as its status tells; undefined for a kind or a status that can't be read. */
export function replicaStatus({ kind, replicas }: Workload): ReplicaStatus | undefined {
  if (kind === "DaemonSet" || replicas === undefined) return undefined;
  const { wanted, ...counts } = replicas;
  return { kind, replicas: wanted, ...counts };
}

/** A workload, as far as it owns pods. */
export interface OwningWorkload {
  readonly kind: string;
  readonly metadata: Pick<Workload["metadata"], "uid" | "namespace">;
}

/** Its pods by the chain of controllers, each link by UID; labels alone make no pod anybody's. */
export function podsOfWorkload<P extends Pick<Pod, "metadata">>(
  { kind, metadata: { uid, namespace } }: OwningWorkload,
  objects: OwnedObjects<P>,
): readonly P[] {
  const owners = kind === "Deployment"
    ? objects.replicaSetsOwnedBy(uid).map(({ metadata }) => metadata.uid)
    : [uid];
  return owners.flatMap((owner) => objects.podsOwnedBy(owner))
    .filter(({ metadata }) => metadata.namespace === namespace);
}

/** All its pods, also those that are gone, without a word of budgets. */
export function placedPodsOf(workload: Workload, look: SnapshotInput): readonly PlacedPod[] {
  return podsOfWorkload(workload, look.objects).map((pod) => placedPod(pod, look));
}

/**
 * The pods with what budgets say of each. Namespaces may have a budget for each workload: it is asked for
 * only when one is about to go.
 */
export function withBudgets(
  placed: readonly PlacedPod[],
  { workload, objects }: Pick<SnapshotInput, "objects"> & { readonly workload: Workload },
): readonly PlacedPod[] {
  const budgets = objects.budgetsIn(workload.metadata.namespace).map((one): PodBudget => ({
    ...one,
    name: one.metadata.name,
  }));
  const labelsOf = new Map(
    podsOfWorkload(workload, objects).map(({ metadata: { uid, labels } }) =>
      [uid, labels] as const
    ),
  );
  return placed.map((pod) => {
    const { uid, ready } = pod;
    const budget = budgetRefusal({ labels: labelsOf.get(uid) ?? {}, ready }, budgets);
    return budget === undefined ? pod : { ...pod, budget };
  });
}

/** One pod of a workload, without a word of budgets. */
export function placedPod(
  pod: Pod,
  { objects, config, evicted, signSinceMs }: SnapshotInput,
): PlacedPod {
  const { metadata: { uid, annotations }, nodeName, ready } = pod;
  const node = nodeName === "" ? undefined : objects.node(nodeName);
  const { classes, departures } = config;
  const standing = classifyPod(pod, { node, classes, departures, evicted: evicted.has(uid) });
  const { departs } = standing;
  const departsSinceMs = departs === undefined ? undefined : signSinceMs?.(nodeName, departs);
  // Whoever loses its node has nothing to lose by another class.
  const pinned = departs === undefined
    ? boundOf(pod, { objects, config, to: otherClass(standing.class) })
    : protectedBy(annotations);
  const cost = Number(annotations[DELETION_COST] ?? NaN);
  return {
    ...standing,
    ...(departsSinceMs === undefined ? {} : { departsSinceMs }),
    ...(nodeName !== "" || pod.unschedulableSinceMs === undefined
      ? {}
      : { unschedulableSinceMs: pod.unschedulableSinceMs }),
    ready,
    cordoned: node?.cordoned === true,
    createdAtMs: pod.createdAtMs ?? 0,
    ...(pinned === undefined ? {} : { pinned }),
    ...(Number.isInteger(cost) ? { deletionCost: cost } : {}),
  };
}

function boundOf(
  { nodeName, nodeSelector = {}, requiredNodes, claims = [], metadata: { namespace, annotations } }:
    Pod,
  { objects, config: { classes }, to }: Pick<SnapshotInput, "objects" | "config"> & {
    readonly to: NodeClass;
  },
): string | undefined {
  const bounds: readonly NodeConstraint[] = [
    ...selectorConstraints(nodeSelector),
    ...(requiredNodes === undefined ? [] : [{ what: "its affinity", terms: requiredNodes }]),
    ...volumeConstraints({ namespace, claims }, objects.volumesOf),
  ];
  // Where it does not run yet there is nothing to be disturbed.
  return pinnedBy({ annotations: nodeName === "" ? {} : annotations, bounds }, {
    to,
    classes,
    nodes: knownNodes(objects.nodes, classes),
  });
}

/** What was listed; a kind that is absent has none. */
export interface ObjectLists {
  readonly replicaSets?: readonly ReplicaSet[] | undefined;
  readonly pods?: readonly Pod[] | undefined;
  readonly nodes?: readonly Node[] | undefined;
  readonly namespaces?: readonly Namespace[] | undefined;
  readonly budgets?: readonly PodDisruptionBudget[] | undefined;
  readonly volumes?: readonly PersistentVolume[] | undefined;
}

/** The objects of these lists. */
export function listedObjects(
  { replicaSets = [], pods = [], nodes = [], namespaces = [], budgets = [], volumes = [] }:
    ObjectLists,
): PlacedObjects {
  const setsByOwner = Map.groupBy(replicaSets, ({ deployment }) => deployment?.uid);
  const podsByOwner = Map.groupBy(pods, ({ metadata }) => metadata.owner?.uid);
  const nodeByName = new Map(nodes.map((one) => [one.metadata.name, one]));
  const namespaceByName = new Map(namespaces.map((one) => [one.metadata.name, one]));
  const budgetsByNamespace = Map.groupBy(budgets, ({ metadata }) => metadata.namespace);
  const volumesByClaim = Map.groupBy(volumes, ({ claim }) => claim);
  return {
    replicaSetsOwnedBy: (uid) => setsByOwner.get(uid) ?? [],
    podsOwnedBy: (uid) => podsByOwner.get(uid) ?? [],
    node: (name) => nodeByName.get(name),
    nodes: () => nodes,
    namespace: (name) => namespaceByName.get(name),
    budgetsIn: (namespace) => budgetsByNamespace.get(namespace) ?? [],
    volumesOf: (claim) => volumesByClaim.get(claim) ?? [],
  };
}

/** A PodDisruptionBudget of the pods' namespace. */
export interface PodBudget {
  readonly name: string;
  /** Absent: of no pods. One without terms: of all. */
  readonly selector?: LabelSelector;
  /** `status.disruptionsAllowed`. */
  readonly disruptionsAllowed: number;
  /** False while `status.observedGeneration` is behind: the server refuses evictions until then. */
  readonly current: boolean;
  /** True where pods that are not Ready may go: by `unhealthyPodEvictionPolicy`, or as enough are healthy. */
  readonly freesUnready: boolean;
}

/** Whom a budget is asked about. */
export interface BudgetedPod {
  readonly labels: Readonly<Record<string, string>>;
  readonly ready: boolean;
}

/**
 * Why the server would refuse to evict the pod, in a sentence; undefined where it would not. It refuses
 * pods that several budgets are for, whatever these allow.
 */
export function budgetRefusal(
  { labels, ready }: BudgetedPod,
  budgets: readonly PodBudget[],
): string | undefined {
  const own = budgets.filter(({ selector }) =>
    selector !== undefined && labelsMatch(labels, selector)
  );
  const [budget, second] = own;
  if (budget === undefined) return undefined;
  if (second !== undefined) {
    return `budgets ${
      own.map(({ name }) => name).join(", ")
    } are for the same pod, which nobody may evict`;
  }
  if (!budget.current) return `budget ${budget.name} has changed and is not counted yet`;
  if (budget.disruptionsAllowed > 0 || (!ready && budget.freesUnready)) return undefined;
  return `budget ${budget.name} allows no disruption`;
}

/**
 * A workload and its pods, as placement looks at them: from objects to plain facts.
 *
 * @module
 */
import type { Namespace } from "../api/namespace.ts";
import type { Node, PersistentVolume } from "../api/node.ts";
import type { Pod } from "../api/pod.ts";
import type { PodDisruptionBudget } from "../api/pod_disruption_budget.ts";
import type { ReplicaSet, Workload } from "../api/workload.ts";
import { boundBy, type NodeBounds, protectedBy, selectorBounds } from "./bound_pod.ts";
import { DELETION_COST } from "./deletion_cost.ts";
import { knownNodes } from "./known_nodes.ts";
import type { MovedWorkload } from "./next_move.ts";
import { type NodeClass, otherClass } from "./node_class.ts";
import type { PlacedPod } from "./placed_pod.ts";
import type { GateSubject } from "./placement_gate.ts";
import { budgetRefusal, type PodBudget } from "./pod_budget.ts";
import { type NodeRules, podStanding } from "./pod_standing.ts";
import { volumeBounds } from "./volume_bounds.ts";

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
export interface PodLook {
  readonly objects: PlacedObjects;
  readonly config: NodeRules;
  /** UIDs of pods that were evicted, whatever a late copy shows. */
  readonly evicted: { has(uid: string): boolean };
  /** When the sign was first seen on the node of this name, ms since 1970; absent: nobody has noted it. */
  readonly signSinceMs?: (node: string, sign: string) => number;
}

/** Who is asked about at the gate. */
export function gateSubject(
  { kind, metadata: { namespace, labels = {}, annotations } }: Workload,
  objects: Pick<PlacedObjects, "namespace">,
): GateSubject {
  const words = objects.namespace(namespace)?.metadata;
  return { kind, labels, annotations, namespace: { name: namespace, words } };
}

/** The workload as its status tells; undefined for a kind or a status that can't be read. */
export function movedWorkload({ kind, replicas }: Workload): MovedWorkload | undefined {
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
export function placedPodsOf(workload: Workload, look: PodLook): readonly PlacedPod[] {
  return podsOfWorkload(workload, look.objects).map((pod) => placedPod(pod, look));
}

/**
 * The pods with what budgets say of each. Namespaces may have a budget for each workload: it is asked for
 * only when one is about to go.
 */
export function withBudgets(
  placed: readonly PlacedPod[],
  { workload, objects }: Pick<PodLook, "objects"> & { readonly workload: Workload },
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
  { objects, config, evicted, signSinceMs }: PodLook,
): PlacedPod {
  const { metadata: { uid, annotations }, nodeName, ready } = pod;
  const node = nodeName === "" ? undefined : objects.node(nodeName);
  const { classes, departures } = config;
  const standing = podStanding(pod, { node, classes, departures, evicted: evicted.has(uid) });
  const { departs } = standing;
  const departsSinceMs = departs === undefined ? undefined : signSinceMs?.(nodeName, departs);
  // Whoever loses its node has nothing to lose by another class.
  const bound = departs === undefined
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
    ...(bound === undefined ? {} : { bound }),
    ...(Number.isInteger(cost) ? { deletionCost: cost } : {}),
  };
}

function boundOf(
  { nodeName, nodeSelector = {}, requiredNodes, claims = [], metadata: { namespace, annotations } }:
    Pod,
  { objects, config: { classes }, to }: Pick<PodLook, "objects" | "config"> & {
    readonly to: NodeClass;
  },
): string | undefined {
  const bounds: readonly NodeBounds[] = [
    ...selectorBounds(nodeSelector),
    ...(requiredNodes === undefined ? [] : [{ what: "its affinity", terms: requiredNodes }]),
    ...volumeBounds({ namespace, claims }, objects.volumesOf),
  ];
  // Where it does not run yet there is nothing to be disturbed.
  return boundBy({ annotations: nodeName === "" ? {} : annotations, bounds }, {
    to,
    classes,
    nodes: knownNodes(objects.nodes, classes),
  });
}

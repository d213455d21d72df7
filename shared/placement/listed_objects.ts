/**
 * Objects that were listed once, as placement asks for them.
 *
 * @module
 */
import type { Namespace } from "../api/namespace.ts";
import type { Node, PersistentVolume } from "../api/node.ts";
import type { Pod } from "../api/pod.ts";
import type { PodDisruptionBudget } from "../api/pod_disruption_budget.ts";
import type { ReplicaSet } from "../api/workload.ts";
import type { PlacedObjects } from "./placed_workload.ts";

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

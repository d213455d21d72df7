/**
 * The copies of the API's state that placement alone reads.
 *
 * @module
 */
import type { PersistentVolume } from "../../shared/api/node.ts";
import type { PodDisruptionBudget } from "../../shared/api/pod_disruption_budget.ts";
import type { ReplicaSet } from "../../shared/api/workload.ts";
import { createInformer, type Informer } from "../../shared/control/informer.ts";
import type { ListWatch } from "../../shared/control/list_watch.ts";
import type { CacheOptions, Caches } from "../allocation/caches.ts";

/** The copies: ReplicaSets indexed by their Deployment's UID, budgets by namespace, volumes by claim. */
export interface PlacementCopies {
  readonly replicaSets: Informer<ReplicaSet>;
  readonly budgets: Informer<PodDisruptionBudget>;
  readonly volumes: Informer<PersistentVolume>;
}

/** All that placement reads. */
export interface PlacementCaches
  extends
    PlacementCopies,
    Pick<Caches, "pods" | "nodes" | "namespaces" | "deployments" | "statefulSets"> {}

/** Where each copy comes from. */
export interface PlacementSources {
  readonly replicaSets: ListWatch<ReplicaSet>;
  readonly budgets: ListWatch<PodDisruptionBudget>;
  readonly volumes: ListWatch<PersistentVolume>;
}

/** Copies that are empty until each is run. */
export function createPlacementCopies(
  { replicaSets, budgets, volumes }: PlacementSources,
  options: CacheOptions,
): PlacementCopies {
  return {
    replicaSets: createInformer({
      ...options,
      source: replicaSets,
      name: "ReplicaSet",
      indexBy: ({ deployment }) => deployment?.uid,
    }),
    budgets: createInformer({
      ...options,
      source: budgets,
      name: "PodDisruptionBudget",
      indexBy: ({ metadata }) => metadata.namespace,
    }),
    volumes: createInformer({
      ...options,
      source: volumes,
      name: "PersistentVolume",
      indexBy: ({ claim }) => claim,
    }),
  };
}

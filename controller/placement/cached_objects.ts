/**
 * The controller's copies, as placement asks for objects.
 *
 * @module
 */
import type { Pod } from "../../shared/api/pod.ts";
import type { ReplicaSet } from "../../shared/api/workload.ts";
import type { OwnedObjects, PlacedObjects } from "../../shared/placement/placed_workload.ts";
import { podsOwnedBy } from "../allocation/caches.ts";
import type { PlacementCaches } from "./placement_copies.ts";

/** Copies of one kind, indexed by owner. */
export interface OwnedCopy<T> {
  byIndex(value: string): readonly T[];
}

/** Pods are indexed as in `createCaches()`, ReplicaSets by the UID of their Deployment. */
export function cachedOwners<P extends Pick<Pod, "metadata">>(
  { pods, replicaSets }: {
    readonly pods: OwnedCopy<P>;
    readonly replicaSets: OwnedCopy<ReplicaSet>;
  },
): OwnedObjects<P> {
  return {
    replicaSetsOwnedBy: (uid) => replicaSets.byIndex(uid),
    podsOwnedBy: (uid) => podsOwnedBy(pods, uid),
  };
}

/** The objects of these copies, as they are when they are asked for. */
export function cachedObjects(caches: PlacementCaches): PlacedObjects {
  const { nodes, namespaces, budgets, volumes } = caches;
  return {
    ...cachedOwners(caches),
    node: (name) => nodes.get(name),
    nodes: () => nodes.all(),
    namespace: (name) => namespaces.get(name),
    budgetsIn: (namespace) => budgets.byIndex(namespace),
    volumesOf: (claim) => volumes.byIndex(claim),
  };
}

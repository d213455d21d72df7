/**
 * The controller's copies, as placement asks for objects.
 *
 * @module
 */
import type { PlacedObjects } from "../../shared/placement/placed_workload.ts";
import { podsOwnedBy } from "../allocation/caches.ts";
import type { PlacementCaches } from "./placement_copies.ts";

/** The objects of these copies, as they are when they are asked for. */
export function cachedObjects(caches: PlacementCaches): PlacedObjects {
  const { pods, replicaSets, nodes, namespaces, budgets, volumes } = caches;
  return {
    replicaSetsOwnedBy: (uid) => replicaSets.byIndex(uid),
    podsOwnedBy: (uid) => podsOwnedBy(pods, uid),
    node: (name) => nodes.get(name),
    nodes: () => nodes.all(),
    namespace: (name) => namespaces.get(name),
    budgetsIn: (namespace) => budgets.byIndex(namespace),
    volumesOf: (claim) => volumes.byIndex(claim),
  };
}

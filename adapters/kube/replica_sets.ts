/**
 * ReplicaSets on a real API server.
 *
 * @module
 */
import type { ReplicaSet } from "../../shared/api/replica_set.ts";
import type { ListWatch } from "../../shared/control/list_watch.ts";
import type { KubeConnection } from "./connection.ts";
import { objectOf } from "./json_fields.ts";
import { kubeListWatch, type ListWatchSurroundings } from "./kube_list_watch.ts";
import { parseNamespacedIdentity } from "./object_identity.ts";
import { parseOwner } from "./pods.ts";

/** List-watch of the ReplicaSets of all namespaces. */
export function replicaSetListWatch(
  connection: KubeConnection,
  options: ListWatchSurroundings = {},
): ListWatch<ReplicaSet> {
  return kubeListWatch(connection, {
    ...options,
    path: "/apis/apps/v1/replicasets",
    parse: parseReplicaSet,
  });
}

/**
 * The trimmed ReplicaSet: few bytes each, as Deployments keep ten old ones. Throws a `TypeError` without
 * identity.
 */
export function parseReplicaSet(raw: unknown): ReplicaSet {
  const metadata = parseNamespacedIdentity(raw);
  const owner = parseOwner(objectOf(objectOf(raw).metadata).ownerReferences);
  if (owner?.kind !== "Deployment" || !owner.apiVersion.startsWith("apps/")) return { metadata };
  return { metadata, deployment: { name: owner.name, uid: owner.uid } };
}

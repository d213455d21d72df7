/**
 * ReplicaSets on a real API server.
 *
 * @module
 */
import type { ReplicaSet } from "../../shared/api/replica_set.ts";
import type { ListWatch } from "../../shared/control/list_watch.ts";
import { type KubeConnection, pathPart } from "./connection.ts";
import { objectOf } from "./json_fields.ts";
import { kubeListWatch, type ListWatchSurroundings } from "./kube_list_watch.ts";
import { parseNamespacedIdentity } from "./object_identity.ts";
import { parseOwner } from "./pods.ts";

/** Which ReplicaSets. */
export interface ReplicaSetSelection extends ListWatchSurroundings {
  /** Only those of this namespace. */
  readonly namespace?: string;
}

/** List-watch of ReplicaSets, by default of all. */
export function replicaSetListWatch(
  connection: KubeConnection,
  { namespace, ...surroundings }: ReplicaSetSelection = {},
): ListWatch<ReplicaSet> {
  const place = namespace === undefined ? "" : `/namespaces/${pathPart(namespace)}`;
  return kubeListWatch(connection, {
    ...surroundings,
    path: `/apis/apps/v1${place}/replicasets`,
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

/**
 * A ConfigMap on a real API server.
 *
 * @module
 */
import type { ConfigMap } from "../../shared/api/config_map.ts";
import type { ListWatch } from "../../shared/control/list_watch.ts";
import { type KubeConnection, pathPart } from "./connection.ts";
import { objectOf, textsOf } from "./json_fields.ts";
import { kubeListWatch, type ListWatchSurroundings } from "./kube_list_watch.ts";
import { parseNamespacedIdentity } from "./object_identity.ts";

/** Which ConfigMap. */
export interface ConfigMapSelection extends ListWatchSurroundings {
  readonly namespace: string;
  readonly name: string;
}

/** List-watch of one ConfigMap by its name: a Role with `resourceNames` allows no more. */
export function configMapListWatch(
  connection: KubeConnection,
  { namespace, name, ...rest }: ConfigMapSelection,
): ListWatch<ConfigMap> {
  return kubeListWatch(connection, {
    ...rest,
    path: `/api/v1/namespaces/${pathPart(namespace)}/configmaps`,
    fieldSelector: `metadata.name=${name}`,
    parse: parseConfigMap,
  });
}

/** The trimmed ConfigMap. Throws a `TypeError` without identity. */
export function parseConfigMap(raw: unknown): ConfigMap {
  return { metadata: parseNamespacedIdentity(raw), data: textsOf(objectOf(raw).data) };
}

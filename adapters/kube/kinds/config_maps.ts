/**
 * ConfigMaps on a real API server.
 *
 * @module
 */
import type { ConfigMap } from "../../../shared/api/config_map.ts";
import type { ListWatch } from "../../../shared/control/informer.ts";
import type { KubeConnection } from "../client/connection.ts";
import { listWatchOf, type ListWatchOptions } from "../client/list_watch.ts";
import { parseNamespacedIdentity } from "./object_fields.ts";

/** Group, version and plural of ConfigMaps. */
export const CONFIG_MAPS = { groupVersion: "v1", resource: "configmaps" } as const;

const openConfigMaps = listWatchOf({ ...CONFIG_MAPS, parse: parseConfigMap });

/** List-watch of one ConfigMap by its name: a Role with `resourceNames` allows no more. */
export function configMapListWatch(
  connection: KubeConnection,
  { name, ...options }: ListWatchOptions & { readonly namespace: string; readonly name: string },
): ListWatch<ConfigMap> {
  return openConfigMaps(connection, { ...options, fieldSelector: `metadata.name=${name}` });
}

/** Projects a ConfigMap. */
export function parseConfigMap(raw: unknown): ConfigMap {
  const { data = {} } = raw as Partial<ConfigMap>;
  return { metadata: parseNamespacedIdentity(raw), data };
}

/**
 * Checkpoints on a real API server: ConfigMaps in which a program keeps state that outlives it.
 *
 * @module
 */
import type { CheckpointStore } from "../../../shared/control/persisted_map.ts";
import {
  type KubeConnection,
  patchRequest,
  resourcePath,
  unlessNotFound,
} from "../client/connection.ts";
import { listOf, objectOf } from "../client/json_fields.ts";
import { CONFIG_MAPS, parseConfigMap } from "../kinds/config_maps.ts";

/** Namespace and label of the ConfigMaps. */
export interface CheckpointStoreOptions {
  readonly namespace: string;
  /** A label that all of them have with the value `true`, and no other ConfigMap. */
  readonly label: string;
  readonly manager: string;
}

/** Creates a store; it lists, patches, creates and deletes. */
export function createCheckpointStore(
  connection: KubeConnection,
  { namespace, label, manager }: CheckpointStoreOptions,
): CheckpointStore {
  const pathOf = (name: string): string => resourcePath({ ...CONFIG_MAPS, namespace, name });
  return {
    async list(signal) {
      const path = resourcePath({ ...CONFIG_MAPS, namespace });
      const query = { labelSelector: `${label}=true` };
      const { items } = objectOf(await connection.request({ path, query, signal }));
      return listOf(items).map((item) => {
        const { metadata: { name }, data } = parseConfigMap(item);
        return { name, data };
      });
    },
    async apply({ name, data }, signal) {
      const metadata = { namespace, name, labels: { [label]: "true" } };
      const query = { fieldManager: manager, force: "true" };
      const body = { apiVersion: "v1", kind: "ConfigMap", metadata, data };
      await connection.request(patchRequest("apply", { path: pathOf(name), query, body, signal }));
    },
    async remove(name, signal) {
      await unlessNotFound(connection.request({ method: "DELETE", path: pathOf(name), signal }));
    },
  };
}

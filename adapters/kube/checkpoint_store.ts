/**
 * ConfigMaps in which a program keeps what it must not forget.
 *
 * @module
 */
import { ApiError } from "../../shared/api/api_error.ts";
import { parseConfigMap } from "./config_maps.ts";
import { type KubeConnection, pathPart } from "./connection.ts";
import { listOf, objectOf } from "./json_fields.ts";

/** What is kept under a name. */
export interface KubeCheckpoint {
  readonly name: string;
  readonly data: Readonly<Record<string, string>>;
}

/** The controller's port of this name. All methods throw an `ApiError`. */
export interface KubeCheckpointStore {
  /** All that there are. */
  list(signal: AbortSignal): Promise<readonly KubeCheckpoint[]>;
  /** Writes one, whatever was there. */
  apply(checkpoint: KubeCheckpoint, signal: AbortSignal): Promise<void>;
  /** Takes one away, if it is there. */
  remove(name: string, signal: AbortSignal): Promise<void>;
}

/** Where they are, and how they are told from others. */
export interface CheckpointStoreOptions {
  readonly namespace: string;
  /** A label that all of them carry with the value `true`, and nothing else does. */
  readonly label: string;
  /** The field manager that they are applied by. */
  readonly manager: string;
}

/** A store with the rights of the connection: it lists, patches, creates and deletes. */
export function createCheckpointStore(
  connection: KubeConnection,
  { namespace, label, manager }: CheckpointStoreOptions,
): KubeCheckpointStore {
  const collection = `/api/v1/namespaces/${pathPart(namespace)}/configmaps`;
  return {
    async list(signal) {
      const query = { labelSelector: `${label}=true` };
      const raw = await connection.request({ path: collection, query, signal });
      return listOf(objectOf(raw).items).map((item) => {
        const { metadata: { name }, data } = parseConfigMap(item);
        return { name, data };
      });
    },
    async apply({ name, data }, signal) {
      const metadata = { namespace, name, labels: { [label]: "true" } };
      await connection.request({
        method: "PATCH",
        path: `${collection}/${pathPart(name)}`,
        query: { fieldManager: manager, force: "true" },
        contentType: "application/apply-patch+yaml",
        // JSON is YAML.
        body: { apiVersion: "v1", kind: "ConfigMap", metadata, data },
        signal,
      });
    },
    async remove(name, signal) {
      try {
        const path = `${collection}/${pathPart(name)}`;
        await connection.request({ method: "DELETE", path, signal });
      } catch (error) {
        if (!(error instanceof ApiError && error.status === 404)) throw error;
      }
    },
  };
}

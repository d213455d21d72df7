/**
 * Reads what placement looks at on a real API server.
 *
 * @module
 */
import { parseConfigMap } from "../../../adapters/kube/kinds/config_maps.ts";
import { type KubeConnection, pathPart } from "../../../adapters/kube/client/connection.ts";
import { listOf, objectOf, textOf } from "../../../adapters/kube/client/json_fields.ts";
import { namespaceListWatch, parseNamespace } from "../../../adapters/kube/kinds/namespaces.ts";
import { nodeListWatch, persistentVolumeListWatch } from "../../../adapters/kube/kinds/nodes.ts";
import { podDisruptionBudgetListWatch } from "../../../adapters/kube/kinds/pod_disruption_budgets.ts";
import { replicaSetListWatch, workloadListWatch } from "../../../adapters/kube/kinds/workloads.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import type { ApiObject } from "../../../shared/api/object.ts";
import type { ListWatch } from "../../../shared/control/informer.ts";
import { memoryConfigMap } from "../../../shared/placement/placement_memory.ts";
import type { PlacementReader } from "../ports.ts";
import type { ReaderParts } from "./cluster_reader.ts";
import { CONTROLLER_DEPLOYMENT, SYSTEM_NAMESPACE } from "./installation.ts";

/** The port's implementation. */
export function createPlacementReader(
  connection: KubeConnection,
  { signal }: Pick<ReaderParts, "signal">,
): PlacementReader {
  const all = async <T extends ApiObject>(source: ListWatch<T>): Promise<readonly T[]> =>
    (await source.list(signal)).items;
  const within = (namespace?: string): { readonly namespace?: string } =>
    namespace === undefined ? {} : { namespace };

  /** Undefined where there is none. */
  async function get(path: string): Promise<unknown> {
    try {
      return await connection.request({ path, signal });
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return undefined;
      throw error;
    }
  }

  return {
    workloads: (kind, namespace) =>
      all(workloadListWatch(connection, { kind, ...within(namespace) })),
    replicaSets: (namespace) => all(replicaSetListWatch(connection, within(namespace))),
    budgets: (namespace) => all(podDisruptionBudgetListWatch(connection, within(namespace))),
    async namespaces(name) {
      if (name === undefined) return await all(namespaceListWatch(connection));
      const raw = await get(`/api/v1/namespaces/${pathPart(name)}`);
      return raw === undefined ? [] : [parseNamespace(raw)];
    },
    nodes: () => all(nodeListWatch(connection)),
    volumes: () => all(persistentVolumeListWatch(connection)),
    async memory(namespace) {
      const path = `/api/v1/namespaces/${SYSTEM_NAMESPACE}/configmaps/${
        pathPart(memoryConfigMap(namespace))
      }`;
      const raw = await get(path);
      return raw === undefined ? {} : parseConfigMap(raw).data;
    },
    async controllerCommand() {
      const place = `/apis/apps/v1/namespaces/${SYSTEM_NAMESPACE}/deployments`;
      const raw = await get(`${place}/${CONTROLLER_DEPLOYMENT}`);
      if (raw === undefined) return undefined;
      const { spec } = objectOf(objectOf(objectOf(raw).spec).template);
      const container = objectOf(listOf(objectOf(spec).containers)[0]);
      const variables = listOf(container.env).flatMap((one): [string, string][] => {
        const [name, value] = [textOf(objectOf(one).name), textOf(objectOf(one).value)];
        return name === undefined || value === undefined ? [] : [[name, value]];
      });
      return {
        variables: Object.fromEntries(variables),
        args: listOf(container.args).flatMap((one) => textOf(one) ?? []),
      };
    },
  };
}

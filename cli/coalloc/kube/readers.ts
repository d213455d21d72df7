/**
 * Readers of what the controller publishes of placement, and of recommendations.
 *
 * @module
 */
import { CONFIG_MAPS, parseConfigMap } from "../../../adapters/kube/kinds/config_maps.ts";
import {
  type KubeConnection,
  resourcePath,
  unlessNotFound,
} from "../../../adapters/kube/client/connection.ts";
import { listOf, objectOf, textOf } from "../../../adapters/kube/client/json_fields.ts";
import {
  publishedTexts,
  STATUS_CONFIG_MAP_PREFIX,
  STATUS_LABEL,
} from "../../../shared/placement/status.ts";
import type { PlacementReader, RecommendationReader } from "../ports.ts";
import { readControllerContainer, type ReaderParts } from "./cluster_reader.ts";
import { createCheckpointStore } from "../../../adapters/kube/writers/checkpoint_store.ts";
import { SYSTEM_NAMESPACE } from "./system_namespace.ts";
import {
  optimizationPolicyListWatch,
  recommendationReportListWatch,
} from "../../../adapters/kube/kinds/optimization_policies.ts";
import { templateOf, workloadListWatch } from "../../../adapters/kube/kinds/workloads.ts";
import { WORKLOAD_KINDS } from "../../../shared/rightsizing/policy_spec.ts";
import { defined } from "../../../shared/defined.ts";
import type { ListWatch } from "../../../shared/control/informer.ts";
import type { ApiObject } from "../../../shared/api/object.ts";

/** The port's implementation. */
export function createPlacementReader(
  connection: KubeConnection,
  signal: AbortSignal,
): PlacementReader {
  const namespace = SYSTEM_NAMESPACE;
  const published = createCheckpointStore(connection, {
    ...{ namespace, label: STATUS_LABEL, manager: "" },
  });
  return {
    async statuses(of) {
      if (of === undefined) return publishedTexts(await published.list(signal));
      const name = STATUS_CONFIG_MAP_PREFIX + of;
      const path = resourcePath({ ...CONFIG_MAPS, namespace, name });
      const raw = await unlessNotFound(connection.request({ path }));
      return publishedTexts(raw === undefined ? [] : [{ name, data: parseConfigMap(raw).data }]);
    },
    async controllerCommand() {
      const container = await readControllerContainer(connection);
      if (container === undefined) return undefined;
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

/** The port's implementation. */
export function createRecommendationReader(
  connection: KubeConnection,
  { signal }: Pick<ReaderParts, "signal">,
): RecommendationReader {
  const all = async <T extends ApiObject>(source: ListWatch<T>): Promise<readonly T[]> =>
    (await source.list(signal)).items;
  return {
    reports: (namespace) => all(recommendationReportListWatch(connection, defined({ namespace }))),
    policies: (namespace) =>
      // Recommendations do not depend on it: the controller knows its setting.
      all(
        optimizationPolicyListWatch(connection, {
          ...defined({ namespace }),
          provider: "prometheus",
        }),
      ),
    async templates(namespace, labelSelector) {
      const kinds = WORKLOAD_KINDS.map((kind) =>
        all(workloadListWatch(connection, { kind, ...defined({ namespace, labelSelector }) }))
      );
      return (await Promise.all(kinds)).flat().map(templateOf);
    },
  };
}

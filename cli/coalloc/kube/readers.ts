/**
 * Readers of published placement and recommendations.
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
import { list, readControllerContainer, type ReaderParts } from "./cluster_reader.ts";
import { createCheckpointStore } from "../../../adapters/kube/writers/checkpoint_store.ts";
import { SYSTEM_NAMESPACE } from "./system_namespace.ts";
import {
  optimizationPolicyListWatch,
  recommendationReportListWatch,
} from "../../../adapters/kube/kinds/optimization_policies.ts";
import { templateOf, workloadListWatch } from "../../../adapters/kube/kinds/workloads.ts";
import { WORKLOAD_KINDS } from "../../../shared/rightsizing/policy_spec.ts";
import { defined } from "../../../shared/defined.ts";

/** Creates the reader. */
export function createPlacementReader(
  connection: KubeConnection,
  signal: AbortSignal,
): PlacementReader {
  const options = { namespace: SYSTEM_NAMESPACE, label: STATUS_LABEL, manager: "" };
  const published = createCheckpointStore(connection, options);
  return {
    async statuses(namespace) {
      if (namespace === undefined) return publishedTexts(await published.list(signal));
      const name = STATUS_CONFIG_MAP_PREFIX + namespace;
      const path = resourcePath({ ...CONFIG_MAPS, namespace: SYSTEM_NAMESPACE, name });
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

/** Creates the reader. */
export function createRecommendationReader(
  connection: KubeConnection,
  parts: Pick<ReaderParts, "signal">,
): RecommendationReader {
  return {
    reports: (namespace) =>
      list(parts, recommendationReportListWatch(connection, defined({ namespace }))),
    policies(namespace) {
      // Any provider will do: recommendations are read, not made.
      const options = { ...defined({ namespace }), provider: "prometheus" } as const;
      return list(parts, optimizationPolicyListWatch(connection, options));
    },
    async templates(namespace, labelSelector) {
      const kinds = WORKLOAD_KINDS.map((kind) => {
        const options = { kind, ...defined({ namespace, labelSelector }) };
        return list(parts, workloadListWatch(connection, options));
      });
      return (await Promise.all(kinds)).flat().map(templateOf);
    },
  };
}

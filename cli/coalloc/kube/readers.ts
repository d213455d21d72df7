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
import type { ReaderParts } from "./cluster_reader.ts";
import { CONTROLLER_DEPLOYMENT } from "../../../shared/installation.ts";
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
  { signal }: Pick<ReaderParts, "signal">,
): PlacementReader {
  const place = { ...CONFIG_MAPS, namespace: SYSTEM_NAMESPACE };

  const get = (path: string): Promise<unknown> =>
    unlessNotFound(connection.request({ path, signal }));

  async function configMaps(namespace: string | undefined): Promise<readonly unknown[]> {
    if (namespace === undefined) {
      const query = { labelSelector: `${STATUS_LABEL}=true` };
      const path = resourcePath(place);
      return listOf(objectOf(await connection.request({ path, query, signal })).items);
    }
    const name = STATUS_CONFIG_MAP_PREFIX + namespace;
    const raw = await get(resourcePath({ ...place, name }));
    return raw === undefined ? [] : [raw];
  }

  return {
    async statuses(namespace) {
      const found = (await configMaps(namespace)).map(parseConfigMap);
      return publishedTexts(found.map(({ metadata: { name }, data }) => ({ name, data })));
    },
    async controllerCommand() {
      const path = `/apis/apps/v1/namespaces/${SYSTEM_NAMESPACE}/deployments`;
      const raw = await get(`${path}/${CONTROLLER_DEPLOYMENT}`);
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

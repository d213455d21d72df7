/**
 * Reads what rightsizing says on a real API server.
 *
 * @module
 */
import type { KubeConnection } from "../../../adapters/kube/client/connection.ts";
import {
  optimizationPolicyListWatch,
  recommendationReportListWatch,
} from "../../../adapters/kube/kinds/optimization_policies.ts";
import { templateOf, workloadListWatch } from "../../../adapters/kube/kinds/workloads.ts";
import { WORKLOAD_KINDS } from "../../../shared/rightsizing/policy_spec.ts";
import type { ListWatch } from "../../../shared/control/informer.ts";
import type { ApiObject } from "../../../shared/api/object.ts";
import type { RecommendationReader } from "../ports.ts";
import type { ReaderParts } from "./cluster_reader.ts";

/** The port's implementation. */
export function createRecommendationReader(
  connection: KubeConnection,
  { signal }: Pick<ReaderParts, "signal">,
): RecommendationReader {
  const all = async <T extends ApiObject>(source: ListWatch<T>): Promise<readonly T[]> =>
    (await source.list(signal)).items;
  const within = (namespace?: string): { readonly namespace?: string } =>
    namespace === undefined ? {} : { namespace };
  return {
    reports: (namespace) => all(recommendationReportListWatch(connection, within(namespace))),
    policies: (namespace) =>
      // Recommendations do not depend on it: the controller knows its setting.
      all(
        optimizationPolicyListWatch(connection, { ...within(namespace), provider: "prometheus" }),
      ),
    async templates(namespace) {
      const kinds = WORKLOAD_KINDS.map((kind) =>
        all(workloadListWatch(connection, { kind, ...within(namespace) }))
      );
      return (await Promise.all(kinds)).flat().map(templateOf);
    },
  };
}

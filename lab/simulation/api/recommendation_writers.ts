/**
 * Statuses of policies and reports of the simulated API.
 *
 * @module
 */
import type {
  NewReport,
  PolicyStatusWriter,
  ReportStore,
} from "../../../controller/rightsizing/ports.ts";
import type { ApiAccess } from "./request_gate.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import { OPTIPOD_GROUP_VERSION } from "../../../shared/api/optimization_policy.ts";
import type { RecommendationReport } from "../../../shared/api/recommendation_report.ts";
import { objectKey } from "../../../shared/control/object_key.ts";

/** The port's implementation. */
export function createPolicyStatusWriter({ store, gate }: ApiAccess): PolicyStatusWriter {
  const table = store.tables.OptimizationPolicy;
  return {
    async writeStatus({ metadata }, status) {
      const stored = await gate.send(
        { verb: "updateStatus", kind: "OptimizationPolicy" },
        () => table.replaceStatus({ metadata, faults: [], status }),
      );
      return stored.metadata.resourceVersion;
    },
  };
}

/** The port's implementation. */
export function createReportStore({ store, gate }: ApiAccess): ReportStore {
  const table = store.tables.RecommendationReport;
  const kind = "RecommendationReport";
  return {
    list(namespace) {
      return gate.send(
        { verb: "list", kind },
        () => table.all().filter(({ metadata }) => metadata.namespace === namespace),
      );
    },
    apply(report) {
      const verb = report.resourceVersion === undefined ? "create" : "patch";
      return gate.send({ verb, kind }, () => {
        const stored = table.get(objectKey(report));
        const wanted = objectOf(report, stored);
        return report.resourceVersion === undefined || stored === undefined
          ? table.create(wanted)
          : table.replace(wanted);
      });
    },
    async remove({ metadata }) {
      const key = objectKey(metadata);
      await gate.send({ verb: "delete", kind }, () => {
        const stored = table.get(key);
        const isOther = stored?.metadata.resourceVersion !== metadata.resourceVersion;
        if (stored !== undefined && isOther) {
          throw new ApiError(409, "Conflict", `${kind} "${key}": the precondition failed`);
        }
        return table.remove(key, metadata.uid);
      });
    },
  };
}

/** As it is to be stored. */
function objectOf(
  { namespace, name, resourceVersion, workloads }: NewReport,
  stored: RecommendationReport | undefined,
): RecommendationReport {
  return {
    apiVersion: OPTIPOD_GROUP_VERSION,
    kind: "RecommendationReport",
    metadata: {
      namespace,
      name,
      uid: stored?.metadata.uid ?? "",
      resourceVersion: resourceVersion ?? "",
      labels: { "app.kubernetes.io/managed-by": "mbcas-controller" },
    },
    workloads: [...workloads],
  };
}

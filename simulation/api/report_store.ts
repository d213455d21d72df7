/**
 * The controller's writes of reports, on the simulated API.
 *
 * @module
 */
import type { NewReport, ReportStore } from "../../controller/rightsizing/policy_ports.ts";
import { OPTIPOD_GROUP_VERSION } from "../../shared/api/optimization_policy.ts";
import type { RecommendationReport } from "../../shared/api/recommendation_report.ts";
import { objectKey } from "../../shared/control/object_key.ts";
import type { ApiAccess } from "./api_access.ts";

/** The port's implementation. */
export function createReportStore({ store, gate }: ApiAccess): ReportStore {
  const table = store.tables.RecommendationReport;
  const kind = "RecommendationReport";
  return {
    apply(report) {
      return gate.send({ verb: "patch", kind }, () => {
        const stored = table.get(objectKey(report));
        const wanted = objectOf(report, stored);
        return stored === undefined ? table.create(wanted) : table.replace(wanted);
      });
    },
    async remove({ metadata }) {
      await gate.send(
        { verb: "delete", kind },
        () => table.remove(objectKey(metadata), metadata.uid),
      );
    },
  };
}

/** An applied object without a version takes whichever there is. */
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
      resourceVersion: resourceVersion ?? stored?.metadata.resourceVersion ?? "",
      labels: { "app.kubernetes.io/managed-by": "mbcas-controller" },
    },
    workloads: [...workloads],
  };
}

/**
 * RecommendationReports on a real API server.
 *
 * @module
 */
import { OPTIPOD_GROUP_VERSION } from "../../shared/api/optimization_policy.ts";
import {
  type RecommendationReport,
  reportedWorkloadSchema,
} from "../../shared/api/recommendation_report.ts";
import { readableItems } from "../../shared/api/stored_policy_status.ts";
import type { ListWatch } from "../../shared/control/list_watch.ts";
import type { ReportPart } from "../../shared/rightsizing/report_parts.ts";
import type { KubeConnection, KubeRequest } from "./connection.ts";
import { listOf, objectOf, textsOf } from "./json_fields.ts";
import { kubeListWatch, type ListWatchSurroundings } from "./kube_list_watch.ts";
import { parseNamespacedIdentity } from "./object_identity.ts";
import { optipodCollection, optipodObject } from "./optipod_path.ts";

/** Which reports. */
export interface ReportSelection extends ListWatchSurroundings {
  /** Only those of this namespace. */
  readonly namespace?: string;
}

/** List-watch of reports, by default of all. */
export function recommendationReportListWatch(
  connection: KubeConnection,
  { namespace, ...surroundings }: ReportSelection = {},
): ListWatch<RecommendationReport> {
  return kubeListWatch(connection, {
    ...surroundings,
    path: optipodCollection("recommendationreports", namespace),
    parse: parseRecommendationReport,
  });
}

const workloads = readableItems(reportedWorkloadSchema);

/** The report, without entries that can't be read. Throws a `TypeError` without identity. */
export function parseRecommendationReport(raw: unknown): RecommendationReport {
  const { metadata, workloads: list } = objectOf(raw);
  const labels = textsOf(objectOf(metadata).labels);
  const { data = [] } = workloads.safeParse(list);
  return {
    apiVersion: OPTIPOD_GROUP_VERSION,
    kind: "RecommendationReport",
    metadata: {
      ...parseNamespacedIdentity(raw),
      ...(Object.keys(labels).length === 0 ? {} : { labels }),
    },
    workloads: data,
  };
}

/**
 * Writes reports; the controller's port `ReportStore`. Each call throws an `ApiError` when the server
 * refuses.
 */
export interface KubeReportStore {
  /** All of the namespace, as the server has them now. */
  list(namespace: string): Promise<readonly RecommendationReport[]>;
  /**
   * Makes the report, or replaces what its version tells, and returns it as stored. 409 `AlreadyExists`
   * where there is one already, and `Conflict` where the version is not the stored one.
   */
  apply(report: NewReport): Promise<RecommendationReport>;
  /** Deletes the report if its UID and its version are still these, else 409; 404 when it is gone. */
  remove(report: Pick<RecommendationReport, "metadata">): Promise<void>;
}

/** A report that is about to be written. */
export interface NewReport extends ReportPart {
  readonly namespace: string;
  /** The version that is replaced. Absent: there is none yet. */
  readonly resourceVersion?: string;
}

const MANAGER = "mbcas-controller";

/** A store with the rights of the connection. */
export function createReportStore(connection: KubeConnection): KubeReportStore {
  return {
    async list(namespace) {
      const path = optipodCollection("recommendationreports", namespace);
      const { items } = objectOf(await connection.request({ path }));
      return listOf(items).map(parseRecommendationReport);
    },
    async apply({ namespace, name, resourceVersion, workloads }) {
      const labels = { "app.kubernetes.io/managed-by": "mbcas-controller" };
      const body = { apiVersion: OPTIPOD_GROUP_VERSION, kind: "RecommendationReport", workloads };
      const metadata = { namespace, name, labels };
      // An apply without a version would take whatever there is, unread.
      const request: KubeRequest = resourceVersion === undefined
        ? {
          method: "POST",
          path: optipodCollection("recommendationreports", namespace),
          query: { fieldManager: MANAGER },
          body: { ...body, metadata },
        }
        : {
          method: "PATCH",
          path: optipodObject("recommendationreports", { namespace, name }),
          // Nobody else writes reports: what that version says is replaced, whoever wrote it.
          query: { fieldManager: MANAGER, force: "true" },
          contentType: "application/apply-patch+yaml",
          body: { ...body, metadata: { ...metadata, resourceVersion } },
        };
      return parseRecommendationReport(await connection.request(request));
    },
    async remove({ metadata }) {
      const { uid, resourceVersion } = metadata;
      await connection.request({
        method: "DELETE",
        path: optipodObject("recommendationreports", metadata),
        body: {
          kind: "DeleteOptions",
          apiVersion: "v1",
          preconditions: { uid, resourceVersion },
        },
      });
    },
  };
}

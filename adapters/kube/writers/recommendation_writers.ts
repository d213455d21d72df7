/**
 * Writes of recommendations on a real API server: the status of policies, RecommendationReports, and
 * VerticalPodAutoscalers of mode `Off`.
 *
 * @module
 */
import type {
  PolicyStatusWriter,
  ReportStore,
  VPAPublisher,
} from "../../../shared/rightsizing/ports.ts";
import {
  deleteRequest,
  type KubeConnection,
  type KubeRequest,
  patchRequest,
  resourcePath,
  storedVersion,
} from "../client/connection.ts";
import { listOf, objectOf } from "../client/json_fields.ts";
import { parseIdentity } from "../kinds/object_fields.ts";
import { parseRecommendationReport, POLICIES, REPORTS } from "../kinds/optimization_policies.ts";
import { RIGHTSIZING_MANAGER } from "../../../shared/resize/original_limits.ts";

const MANAGER = "mbcas-controller";

/** Creates a writer of policies' status. */
export function createPolicyStatusWriter(connection: KubeConnection): PolicyStatusWriter {
  return {
    async writeStatus({ metadata: { namespace, name, uid, resourceVersion } }, status) {
      return storedVersion(
        await connection.request({
          method: "PUT",
          path: resourcePath({ ...POLICIES, namespace, name, subresource: "status" }),
          query: { fieldManager: MANAGER },
          // The server ignores the spec of a write to the status.
          body: {
            apiVersion: POLICIES.groupVersion,
            kind: "OptimizationPolicy",
            metadata: { namespace, name, uid, resourceVersion },
            status,
          },
        }),
      );
    },
  };
}

/** Creates a store of reports. */
export function createReportStore(connection: KubeConnection): ReportStore {
  return {
    async list(namespace) {
      const path = resourcePath({ ...REPORTS, namespace });
      const { items } = objectOf(await connection.request({ path }));
      return listOf(items).map(parseRecommendationReport);
    },
    async apply({ namespace, name, resourceVersion, workloads }) {
      const labels = { "app.kubernetes.io/managed-by": MANAGER };
      const { groupVersion: apiVersion } = REPORTS;
      const body = { apiVersion, kind: "RecommendationReport", workloads };
      const metadata = { namespace, name, labels };
      // An apply without a version would replace any report, unread.
      const request: KubeRequest = resourceVersion === undefined
        ? {
          method: "POST",
          path: resourcePath({ ...REPORTS, namespace }),
          query: { fieldManager: MANAGER },
          body: { ...body, metadata },
        }
        : patchRequest("apply", {
          path: resourcePath({ ...REPORTS, namespace, name }),
          // No other client writes reports, so the content is replaced by force.
          query: { fieldManager: MANAGER, force: "true" },
          body: { ...body, metadata: { ...metadata, resourceVersion } },
        });
      return parseRecommendationReport(await connection.request(request));
    },
    async remove({ metadata: { namespace, name, uid, resourceVersion } }) {
      const path = resourcePath({ ...REPORTS, namespace, name });
      await connection.request(deleteRequest(path, { uid, resourceVersion }));
    },
  };
}

/**
 * Creates a publisher: it creates and deletes VPAs, and patches their status. A VPA's target is never
 * changed. The status is applied without force: the server's 409 names another recommender that writes it.
 */
export function createVPAPublisher(connection: KubeConnection): VPAPublisher {
  const vpas = { groupVersion: "autoscaling.k8s.io/v1", resource: "verticalpodautoscalers" };
  return {
    async create({ apiVersion, kind, metadata, spec }) {
      const { namespace } = metadata;
      const created = await connection.request({
        method: "POST",
        path: resourcePath({ ...vpas, namespace }),
        query: { fieldManager: RIGHTSIZING_MANAGER },
        body: { apiVersion, kind, metadata, spec },
      });
      return parseIdentity(created).uid;
    },
    async recommend({ apiVersion, kind, metadata: { namespace, name }, status }, uid) {
      await connection.request(patchRequest("apply", {
        path: resourcePath({ ...vpas, namespace, name, subresource: "status" }),
        query: { fieldManager: RIGHTSIZING_MANAGER },
        body: { apiVersion, kind, metadata: { namespace, name, uid }, status },
      }));
    },
    async remove({ namespace, name, uid }) {
      const path = resourcePath({ ...vpas, namespace, name });
      await connection.request(deleteRequest(path, { uid }));
    },
  };
}

/**
 * Recommendations as VerticalPodAutoscalers of mode `Off`, on a real API server.
 *
 * @module
 */
import { publishedVPA, publishedVPAName } from "../../shared/actuation/methods/published_vpa.ts";
import { TEMPLATE_MANAGER } from "../../shared/actuation/methods/template_patch.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import type { RightsizedWorkload } from "../../shared/rightsizing/guards/rightsizing_facts.ts";
import type { ContainerRecommendation } from "../../shared/rightsizing/recommendation.ts";
import { type KubeConnection, pathPart } from "./connection.ts";

/** Publishes recommendations. Each call throws an `ApiError` when the server refuses. */
export interface KubeVPAPublisher {
  /** Makes or renews the workload's VPA. False where nobody has defined the kind. */
  publish(
    workload: Pick<RightsizedWorkload, "kind" | "metadata">,
    recommendations: readonly ContainerRecommendation[],
  ): Promise<boolean>;
  /** Takes the workload's VPA away, if there is one. */
  withdraw(workload: Pick<RightsizedWorkload, "kind" | "metadata">): Promise<void>;
}

/**
 * A publisher with the rights of the connection. Applies without force: what somebody has changed on
 * purpose stays as it is, and the server's 409 names who it was.
 */
export function createVPAPublisher(connection: KubeConnection): KubeVPAPublisher {
  const pathOf = (namespace: string, name: string): string =>
    `/apis/autoscaling.k8s.io/v1/namespaces/${pathPart(namespace)}/verticalpodautoscalers/${
      pathPart(name)
    }`;
  const apply = async (path: string, body: unknown): Promise<void> =>
    void await connection.request({
      method: "PATCH",
      path,
      query: { fieldManager: TEMPLATE_MANAGER },
      contentType: "application/apply-patch+yaml",
      body,
    });
  return {
    async publish(workload, recommendations) {
      const { apiVersion, kind, metadata, spec, status } = publishedVPA(workload, recommendations);
      const { namespace, name } = metadata;
      const path = pathOf(namespace, name);
      return await unlessGone(async () => {
        await apply(path, { apiVersion, kind, metadata, spec });
        await apply(`${path}/status`, {
          apiVersion,
          kind,
          metadata: { namespace, name },
          status,
        });
      });
    },
    async withdraw(workload) {
      const path = pathOf(workload.metadata.namespace, publishedVPAName(workload));
      await unlessGone(() => connection.request({ method: "DELETE", path }));
    },
  };
}

/** False where the server knows no such thing (404): the kind, the object, or the namespace. */
async function unlessGone(act: () => Promise<unknown>): Promise<boolean> {
  try {
    await act();
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return false;
    throw error;
  }
}

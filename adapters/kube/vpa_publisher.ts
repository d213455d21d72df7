/**
 * Recommendations as VerticalPodAutoscalers of mode `Off`, on a real API server.
 *
 * @module
 */
import type { PublishedVPA } from "../../shared/actuation/methods/published_vpa.ts";
import { TEMPLATE_MANAGER } from "../../shared/actuation/methods/template_patch.ts";
import { type KubeConnection, pathPart } from "./connection.ts";
import { parseNamespacedIdentity } from "./object_identity.ts";

/** Names a VPA that there is. */
export interface VPAIdentity {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** The controller's port of this name. Each call throws an `ApiError` when the server refuses. */
export interface KubeVPAPublisher {
  /**
   * Makes the VPA, which recommends nothing yet, and resolves with its UID. 404 where nobody has defined
   * the kind, 409 where there is one of the name.
   */
  create(vpa: PublishedVPA): Promise<string>;
  /** Replaces what the VPA recommends, if its UID is still this one. */
  recommend(vpa: PublishedVPA, uid: string): Promise<void>;
  /** Deletes the VPA if its UID is still this one; 404 when it is gone. */
  remove(vpa: VPAIdentity): Promise<void>;
}

/**
 * A publisher with the rights of the connection: it creates and deletes VPAs, and patches their status.
 * What they are for is written once, so that none becomes another. The status is applied without force:
 * a recommender that writes it, too, is named by the server's 409.
 */
export function createVPAPublisher(connection: KubeConnection): KubeVPAPublisher {
  const collection = (namespace: string): string =>
    `/apis/autoscaling.k8s.io/v1/namespaces/${pathPart(namespace)}/verticalpodautoscalers`;
  const pathOf = ({ namespace, name }: Pick<VPAIdentity, "namespace" | "name">): string =>
    `${collection(namespace)}/${pathPart(name)}`;
  return {
    async create({ apiVersion, kind, metadata, spec }) {
      const made = await connection.request({
        method: "POST",
        path: collection(metadata.namespace),
        query: { fieldManager: TEMPLATE_MANAGER },
        body: { apiVersion, kind, metadata, spec },
      });
      return parseNamespacedIdentity(made).uid;
    },
    async recommend({ apiVersion, kind, metadata: { namespace, name }, status }, uid) {
      await connection.request({
        method: "PATCH",
        path: `${pathOf({ namespace, name })}/status`,
        query: { fieldManager: TEMPLATE_MANAGER },
        contentType: "application/apply-patch+yaml",
        // JSON is YAML.
        body: { apiVersion, kind, metadata: { namespace, name, uid }, status },
      });
    },
    async remove(vpa) {
      await connection.request({
        method: "DELETE",
        path: pathOf(vpa),
        body: { kind: "DeleteOptions", apiVersion: "v1", preconditions: { uid: vpa.uid } },
      });
    },
  };
}

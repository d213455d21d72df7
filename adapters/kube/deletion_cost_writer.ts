/**
 * The annotation by which a ReplicaSet chooses whom to delete, on a real API server.
 *
 * @module
 */
import { ApiError } from "../../shared/api/api_error.ts";
import { DELETION_COST } from "../../shared/placement/deletion_cost.ts";
import { type KubeConnection, pathPart } from "./connection.ts";

/** The controller's port of this name. */
export interface KubeDeletionCostWriter {
  /** Writes the cost if the pod is still this one. False: it is gone. Throws an `ApiError`. */
  write(
    pod: { readonly namespace: string; readonly name: string; readonly uid: string },
    cost: number,
  ): Promise<boolean>;
}

/** A writer with the rights of the connection. */
export function createDeletionCostWriter(connection: KubeConnection): KubeDeletionCostWriter {
  return {
    async write({ namespace, name, uid }, cost) {
      try {
        await connection.request({
          method: "PATCH",
          path: `/api/v1/namespaces/${pathPart(namespace)}/pods/${pathPart(name)}`,
          contentType: "application/merge-patch+json",
          body: { metadata: { uid, annotations: { [DELETION_COST]: String(cost) } } },
        });
        return true;
      } catch (error) {
        // With another UID in it the patch is a conflict.
        if (error instanceof ApiError && (error.status === 404 || error.status === 409)) {
          return false;
        }
        throw error;
      }
    },
  };
}

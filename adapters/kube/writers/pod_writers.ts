/**
 * Writes to pods on a real API server: resizes, evictions and deletion costs.
 *
 * @module
 */
import { ApiError } from "../../../shared/api/api_error.ts";
import { DELETION_COST } from "../../../shared/placement/split.ts";
import type { DeletionCostWriter, PodEvictor, PodRef } from "../../../shared/api/ports.ts";
import type { PodResizer } from "../../../shared/resize/patch.ts";
import {
  type KubeConnection,
  patchRequest,
  resourcePath,
  storedVersion,
  unlessRefused,
} from "../client/connection.ts";

function podPath(
  { namespace, name }: Pick<PodRef, "namespace" | "name">,
  subresource?: "resize" | "eviction",
): string {
  const pod = { groupVersion: "v1", resource: "pods", namespace, name };
  return resourcePath(subresource === undefined ? pod : { ...pod, subresource });
}

/**
 * Creates a resizer. It merges: an apply would conflict with the client that created the pod. Restores
 * recognize changed limits by the field manager.
 */
export function createPodResizer(
  connection: KubeConnection,
  { fieldManager = "mbcas" }: { readonly fieldManager?: string } = {},
): PodResizer {
  return {
    async resize(namespace, podName, patch, { manager = fieldManager, auditID } = {}) {
      const path = podPath({ namespace, name: podName }, "resize");
      const query = { fieldManager: manager };
      return storedVersion(
        await connection.request(patchRequest("strategic", { path, query, body: patch, auditID })),
      );
    },
  };
}

/** The server's message, with status 500, for a pod with several budgets, which it never evicts. */
const SEVERAL_BUDGETS = "more than one PodDisruptionBudget";
/** The cause of a 429 by a budget; a 429 without it is the server's rate limit. */
const BY_BUDGET = "DisruptionBudget";

/** Creates an evictor. */
export function createPodEvictor(connection: KubeConnection): PodEvictor {
  return {
    async evict({ namespace, name, uid }, { auditID } = {}) {
      try {
        await connection.request({
          auditID,
          method: "POST",
          path: podPath({ namespace, name }, "eviction"),
          body: {
            apiVersion: "policy/v1",
            kind: "Eviction",
            metadata: { namespace, name },
            deleteOptions: { preconditions: { uid } },
          },
        });
        return { is: "evicted" };
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        const { status, causes, message } = error;
        // 409: a new pod has the name.
        if (status === 404 || status === 409) return { is: "gone" };
        if (status === 403) return { is: "forbidden", message };
        if (status === 429 && causes.includes(BY_BUDGET)) return { is: "blocked", message };
        if (status === 500 && message.includes(SEVERAL_BUDGETS)) return { is: "blocked", message };
        throw error;
      }
    },
  };
}

/** Creates a writer of the annotation by which a ReplicaSet chooses the pods to delete. */
export function createDeletionCostWriter(connection: KubeConnection): DeletionCostWriter {
  return {
    async write({ namespace, name, uid }, cost) {
      const path = podPath({ namespace, name });
      const body = { metadata: { uid, annotations: { [DELETION_COST]: String(cost) } } };
      const written = connection.request(patchRequest("merge", { path, body })).then(() => true);
      // The UID makes the patch a conflict where a new pod has the name.
      return await unlessRefused(written, 404, 409) ?? false;
    },
  };
}

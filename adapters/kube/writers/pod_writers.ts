/**
 * Writes to pods on a real API server: resizes, evictions and deletion costs.
 *
 * @module
 */
import { ApiError } from "../../../shared/api/api_error.ts";
import { DELETION_COST } from "../../../shared/placement/split.ts";
import type { ResizePatch } from "../../../shared/resize/patch.ts";
import {
  type KubeConnection,
  patchRequest,
  resourcePath,
  storedVersion,
  unlessRefused,
} from "../client/connection.ts";

/** A pod, as writers identify it. */
export interface PodIdentity {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

function podPath(
  { namespace, name }: Pick<PodIdentity, "namespace" | "name">,
  subresource?: "resize" | "eviction",
): string {
  const pod = { groupVersion: "v1", resource: "pods", namespace, name };
  return resourcePath(subresource === undefined ? pod : { ...pod, subresource });
}

/** Options of a resize. */
export interface ResizeOptions {
  /** The field manager of this patch. @default {that of the resizer} */
  readonly manager?: string;
  readonly auditID?: string | undefined;
}

/** Resizes pods; the controller's port of this name. */
export interface KubePodResizer {
  resize(
    namespace: string,
    podName: string,
    patch: ResizePatch,
    options?: ResizeOptions,
  ): Promise<string>;
}

/** Options of the resizer. */
export interface PodResizerOptions {
  /** The recorded owner of the limits: undo relies on it. @default {"mbcas"} */
  readonly fieldManager?: string;
}

/** Creates a resizer. It merges: an apply would conflict with the client that created the pod. */
export function createPodResizer(
  connection: KubeConnection,
  { fieldManager = "mbcas" }: PodResizerOptions = {},
): KubePodResizer {
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

/** Evicts pods; the controller's port of this name. */
export interface KubePodEvictor {
  evict(pod: PodIdentity, options?: { readonly auditID?: string | undefined }): Promise<
    | { readonly is: "evicted" | "gone" }
    | { readonly is: "blocked" | "forbidden"; readonly message: string }
  >;
}

/** The server's message for a pod with several budgets, which it never evicts, with status 500. */
const SEVERAL_BUDGETS = "more than one PodDisruptionBudget";
/** The cause of a 429 by a budget; a 429 without it is the server's rate limit. */
const BY_BUDGET = "DisruptionBudget";

/** Creates an evictor. */
export function createPodEvictor(connection: KubeConnection): KubePodEvictor {
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
        // 409: another pod of the name.
        if (status === 404 || status === 409) return { is: "gone" };
        if (status === 403) return { is: "forbidden", message };
        if (status === 429 && causes.includes(BY_BUDGET)) return { is: "blocked", message };
        if (status === 500 && message.includes(SEVERAL_BUDGETS)) return { is: "blocked", message };
        throw error;
      }
    },
  };
}

/** Writes the annotation by which a ReplicaSet chooses the pods to delete; the controller's port. */
export interface KubeDeletionCostWriter {
  write(pod: PodIdentity, cost: number): Promise<boolean>;
}

/** Creates a writer. */
export function createDeletionCostWriter(connection: KubeConnection): KubeDeletionCostWriter {
  return {
    async write({ namespace, name, uid }, cost) {
      const path = podPath({ namespace, name });
      const body = { metadata: { uid, annotations: { [DELETION_COST]: String(cost) } } };
      const written = connection.request(patchRequest("merge", { path, body })).then(() => true);
      // The UID makes the patch a conflict on another pod of the name.
      return await unlessRefused(written, 404, 409) ?? false;
    },
  };
}

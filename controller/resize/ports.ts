/**
 * What changes pods and their records in the API.
 *
 * @module
 */
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import type { ResizePatch } from "../../shared/resize/patch.ts";

/** Options of one resize. */
export interface ResizeOptions {
  /** The field manager of this patch; that of the resizer where it is absent. */
  readonly manager?: string;
  /** The request's ID in the API server's audit log. @default {the server's choice} */
  readonly auditID?: string | undefined;
}

/** Enforces limits: `PATCH pods/{name}/resize`, strategic merge, under one field manager. */
export interface PodResizer {
  /**
   * Resolves with the pod's new resourceVersion. Throws an `ApiError`; 409 with reason `Conflict`
   * when the patch names another version than the pod's, 422 with reason `Invalid` when it names
   * another UID.
   */
  resize(
    namespace: string,
    podName: string,
    patch: ResizePatch,
    options?: ResizeOptions,
  ): Promise<string>;
}

/** Writes allocations. Each call throws an `ApiError` when the server refuses. */
export interface AllocationStore {
  /** Creates the object (without its status) and returns it as stored. 409 when it exists. */
  create(allocation: PodAllocation): Promise<PodAllocation>;
  /** Replaces the status; 409 `Conflict` when `resourceVersion` is not the stored one. */
  writeStatus(allocation: PodAllocation): Promise<PodAllocation>;
  /** Deletes the object if its UID is still this one; 404 when it is gone. */
  remove(allocation: PodAllocation): Promise<void>;
}

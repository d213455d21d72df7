/**
 * What the allocation controller needs from the API, beside list-watch.
 *
 * @module
 */
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import type { ResizePatch } from "../../shared/actuation/resize_patch.ts";

/** Writes allocations. Each call throws an `ApiError` when the server refuses. */
export interface AllocationStore {
  /** Creates the object (without its status) and returns it as stored. 409 when it exists. */
  create(allocation: PodAllocation): Promise<PodAllocation>;
  /** Replaces the status; 409 `Conflict` when `resourceVersion` is not the stored one. */
  writeStatus(allocation: PodAllocation): Promise<PodAllocation>;
  /** Deletes the object if its UID is still this one; 404 when it is gone. */
  remove(allocation: PodAllocation): Promise<void>;
}

/** Enforces limits: `PATCH pods/{name}/resize`, strategic merge, field manager `mbcas`. */
export interface PodResizer {
  /** Throws an `ApiError`; 422 with reason `Invalid` when the pod's UID is another one. */
  resize(namespace: string, podName: string, patch: ResizePatch): Promise<void>;
}

/** A message on the pod's event stream. */
export interface PodEvent {
  readonly namespace: string;
  readonly podName: string;
  readonly podUID: string;
  readonly type: "Normal" | "Warning";
  readonly reason:
    | "CPULimitApplied"
    | "CPULimitHeld"
    | "CPULimitFailed"
    | "CPULimitsRestored"
    | "AnnotationIgnored";
  readonly message: string;
}

/** Where events go. A lost event is no error. */
export interface EventSink {
  emit(event: PodEvent): void;
}

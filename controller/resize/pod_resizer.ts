/**
 * The port through which all resizes of pods go.
 *
 * @module
 */
import type { ResizePatch } from "../../shared/resize/patch.ts";

/** Options of a resize. */
export interface ResizeOptions {
  /**
   * The field manager of this patch.
   *
   * @default {that of the resizer}
   */
  readonly manager?: string;
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

/**
 * `PATCH pods/{name}/resize` on a real API server.
 *
 * @module
 */
import type { ResizePatch } from "../../shared/actuation/resize_patch.ts";
import { type KubeConnection, pathPart } from "./connection.ts";
import { objectOf, textOf } from "./json_fields.ts";

/** Options of a resize. */
export interface ResizeOptions {
  /**
   * The field manager of this patch.
   *
   * @default {that of the resizer}
   */
  readonly manager?: string;
}

/** Enforces limits; the controller's port of this name. */
export interface KubePodResizer {
  /** Resolves with the pod's new resourceVersion. Throws an `ApiError`. */
  resize(
    namespace: string,
    podName: string,
    patch: ResizePatch,
    options?: ResizeOptions,
  ): Promise<string>;
}

/** Options of the resizer. */
export interface PodResizerOptions {
  /**
   * The name on record as the owner of the limits: undo relies on it.
   *
   * @default {"mbcas"}
   */
  readonly fieldManager?: string;
}

/** A resizer. A strategic merge patch: an apply would conflict with whoever created the pod. */
export function createPodResizer(
  connection: KubeConnection,
  { fieldManager = "mbcas" }: PodResizerOptions = {},
): KubePodResizer {
  return {
    async resize(namespace, podName, patch, { manager = fieldManager } = {}) {
      const pod = await connection.request({
        method: "PATCH",
        path: `/api/v1/namespaces/${pathPart(namespace)}/pods/${pathPart(podName)}/resize`,
        query: { fieldManager: manager },
        contentType: "application/strategic-merge-patch+json",
        body: patch,
      });
      return textOf(objectOf(objectOf(pod).metadata).resourceVersion) ?? "";
    },
  };
}

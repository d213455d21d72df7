/**
 * What a workload's own manifest asks for its pods: containers with their resources.
 *
 * @module
 */
import type { ApiObject } from "../control/list_watch.ts";
import type { PodContainer, Resources } from "./pod.ts";
import type { WorkloadKind } from "./workload.ts";

/** A container or sidecar of the template. */
export type TemplateContainer = Resources & Pick<PodContainer, "name" | "sidecar">;

/** The Deployment, StatefulSet or DaemonSet, trimmed to its template. */
export interface WorkloadTemplate extends ApiObject {
  readonly kind: WorkloadKind;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
  };
  /** Pods that there are to be. */
  readonly replicas: number;
  /** In the order of the manifest, sidecars last. */
  readonly containers: readonly TemplateContainer[];
  /** Why it can't be read, in a sentence; then it seems to have no containers. */
  readonly unreadable?: string;
}

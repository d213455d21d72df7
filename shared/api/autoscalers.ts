/**
 * HorizontalPodAutoscalers and VerticalPodAutoscalers, as far as this product reads them.
 *
 * @module
 */
import type { ApiObject, NamespacedObject } from "./object.ts";
import type { WorkloadRef } from "./workload.ts";

/** One metric on CPU: either `utilization` or `value` is set. */
export interface CPUTarget {
  /** Only the usage of this container counts; absent: the usage of all. */
  readonly container?: string;
  /** Wanted usage as a share of the request, for instance 0.8. */
  readonly utilization?: number;
  /** Wanted usage of a pod or of the container, millicores. */
  readonly value?: number;
}

/** One metric on memory as a share of the request. */
export type MemoryTarget = Pick<CPUTarget, "container">;

/** The trimmed HorizontalPodAutoscaler. */
export interface HorizontalPodAutoscaler extends ApiObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly annotations: Readonly<Record<string, string>>;
  };
  readonly target: WorkloadRef;
  /** Empty when it does not scale on CPU. */
  readonly cpuTargets: readonly CPUTarget[];
  /** Absent when it does not scale on a share of the memory request. */
  readonly memoryTargets?: readonly MemoryTarget[];
  /** When it last changed the number of replicas, ms since 1970. */
  readonly lastScaleMs?: number;
  /** `behavior.scaleDown.stabilizationWindowSeconds`, ms. */
  readonly stabilizationMs: number;
}

/** The trimmed VerticalPodAutoscaler. */
export interface VerticalPodAutoscaler extends NamespacedObject {
  /** `EVERY_WORKLOAD` where it can't be read. */
  readonly target: WorkloadRef;
  /** For instance `Off`, `Initial`, `Recreate`, `InPlaceOrRecreate` or `Auto`. */
  readonly updateMode: string;
  /** `spec.resourcePolicy`: the VPA sets the CPU of containers without a policy. @default {[]} */
  readonly cpuPolicies?: readonly CPUPolicy[];
  /** True for a VPA that this product has published, while its mode is still `Off`. */
  readonly published?: true;
  /** Why it can't be read, as a message; then its mode is `Off`: it manages no pod. */
  readonly unreadable?: string;
}

/** Whether a VPA sets the CPU of a container. */
export interface CPUPolicy {
  /** The container's name, or `*` for all that have no policy of their own. */
  readonly container: string;
  readonly controlled: boolean;
}

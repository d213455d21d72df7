/**
 * HorizontalPodAutoscalers and VerticalPodAutoscalers, as far as this product reads them.
 *
 * @module
 */
import type { ApiObject, NamespacedObject } from "./object.ts";
import type { WorkloadRef } from "./workload.ts";

/** One metric on CPU. Either is set. */
export interface CPUTarget {
  /** The container with usage that counts; absent: those of all containers. */
  readonly container?: string;
  /** Wanted usage as a share of the request, for instance 0.8. */
  readonly utilization?: number;
  /** Wanted usage of a pod or of the container, millicores. */
  readonly value?: number;
}

/** One metric on memory that divides usage by the request. */
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
  /** Empty when it does not look at CPU. */
  readonly cpuTargets: readonly CPUTarget[];
  /** Absent when it looks at no share of memory requests. */
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
  /** Its rules for containers; the CPU of containers without one is set. @default {[]} */
  readonly cpuPolicies?: readonly CPUPolicy[];
  /** True for an object of this product that publishes a recommendation, and is still in mode `Off`. */
  readonly published?: true;
  /** Why it can't be read, as a message; then its mode is `Off`: it manages no pod. */
  readonly unreadable?: string;
}

/** Whether it sets the CPU of a container. */
export interface CPUPolicy {
  /** The container's name, or `*` for all that have no policy of their own. */
  readonly container: string;
  readonly controlled: boolean;
}

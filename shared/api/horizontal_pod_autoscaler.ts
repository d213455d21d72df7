/**
 * A HorizontalPodAutoscaler as this product sees it: what it looks at of CPU, and when it last scaled.
 *
 * @module
 */
import type { ApiObject } from "../control/list_watch.ts";
import type { WorkloadRef } from "./workload.ts";

/** One metric on CPU. Either is set. */
export interface CPUTarget {
  /** The container whose usage counts; absent: those of all containers. */
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

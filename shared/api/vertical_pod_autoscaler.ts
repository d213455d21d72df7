/**
 * A VerticalPodAutoscaler as this product sees it: whose resources it sets.
 *
 * @module
 */
import type { ApiObject } from "../control/list_watch.ts";
import type { WorkloadRef } from "./workload.ts";

/** The trimmed VerticalPodAutoscaler. */
export interface VerticalPodAutoscaler extends ApiObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
  };
  /** `EVERY_WORKLOAD` where it can't be read. */
  readonly target: WorkloadRef;
  /** For instance `Off`, `Initial`, `Recreate`, `InPlaceOrRecreate` or `Auto`. */
  readonly updateMode: string;
  /** What it says of containers; those of which it says nothing have their CPU set. @default {[]} */
  readonly cpuPolicies?: readonly CPUPolicy[];
  /** True for one that this product has made to tell a recommendation, and nobody has switched on. */
  readonly published?: true;
  /** Why it can't be read, in a sentence; then its mode is `Off`: nobody is left to it. */
  readonly unreadable?: string;
}

/** Whether it sets the CPU of a container. */
export interface CPUPolicy {
  /** The container's name, or `*` for all that have no policy of their own. */
  readonly container: string;
  readonly controlled: boolean;
}

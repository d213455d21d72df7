/**
 * What the store must know about a kind: which half of an object is status, and what is valid.
 *
 * @module
 */
import type { ConfigMap } from "../../shared/api/config_map.ts";
import type { EndpointSlice } from "../../shared/api/endpoint_slice.ts";
import type {
  HorizontalPodAutoscaler,
  VerticalPodAutoscaler,
} from "../../shared/api/autoscalers.ts";
import type { Lease } from "../../shared/api/lease.ts";
import type { LimitRange, Namespace, ResourceQuota } from "../../shared/api/namespace.ts";
import type { Node, PersistentVolume } from "../../shared/api/node.ts";
import type { Pod } from "../../shared/api/pod.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import type { PodDisruptionBudget } from "../../shared/api/pod_disruption_budget.ts";
import type { RecommendationReport } from "../../shared/api/recommendation_report.ts";
import type { ReplicaSet, Workload } from "../../shared/api/workload.ts";
import type { ApiObject } from "../../shared/api/object.ts";
import type { StoredPolicy } from "../../shared/rightsizing/stored_policy.ts";

/** The kinds of the simulated cluster. */
export interface StoredKinds {
  readonly Pod: Pod;
  readonly Namespace: Namespace;
  readonly Node: Node;
  readonly PodAllocation: PodAllocation;
  readonly Lease: Lease;
  readonly LimitRange: LimitRange;
  readonly ResourceQuota: ResourceQuota;
  readonly Deployment: Workload;
  readonly StatefulSet: Workload;
  readonly DaemonSet: Workload;
  readonly HorizontalPodAutoscaler: HorizontalPodAutoscaler;
  readonly VerticalPodAutoscaler: VerticalPodAutoscaler;
  readonly OptimizationPolicy: StoredPolicy;
  readonly RecommendationReport: RecommendationReport;
  readonly ReplicaSet: ReplicaSet;
  readonly PodDisruptionBudget: PodDisruptionBudget;
  readonly PersistentVolume: PersistentVolume;
  readonly ConfigMap: ConfigMap;
  readonly EndpointSlice: EndpointSlice;
}

/** A kind's name. */
export type KindName = keyof StoredKinds;

/** One kind's rules. */
export interface StoredKind<T extends ApiObject> {
  readonly kind: KindName;
  /** The object as it is after its creation: without status. */
  withoutStatus(written: T): T;
  /** The spec half of `written` with the status of `stored`. */
  takeSpec(stored: T, written: T): T;
  /** The status half of `written` with the spec of `stored`. */
  takeStatus(stored: T, written: T): T;
  /**
   * The object as it may be stored. Throws an `ApiError` with status 422 when it is invalid, or
   * changes what is immutable against `before`.
   */
  admit(object: T, before: T | undefined): T;
  /** True when `metadata.generation` counts the changes of the spec. */
  readonly hasGeneration: boolean;
  /** The node to which the object belongs, for field selectors. */
  nodeName?(object: T): string;
}

/**
 * The cached objects that a reconcile of one pod reads.
 *
 * @module
 */
import type {
  HorizontalPodAutoscaler,
  VerticalPodAutoscaler,
} from "../../shared/api/autoscalers.ts";
import {
  type Namespace,
  type ResourceQuota,
  unreadableMessages,
} from "../../shared/api/namespace.ts";
import type { Node } from "../../shared/api/node.ts";
import type { Pod } from "../../shared/api/pod.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import type { Workload, WorkloadRef } from "../../shared/api/workload.ts";
import { resourceRangesOf } from "../../shared/resize/checks/limit_range.ts";
import type { OutOfScope, ResourceRanges } from "../../shared/resize/inputs/resize_input.ts";
import { outOfScope, type ScopeSettings } from "../../shared/resize/scope.ts";
import { belongsTo, workloadsOf } from "../../shared/resize/workloads_of.ts";
import { type ReadCaches, workloadOf } from "../caches.ts";

/** One pod and what belongs to it. */
export interface PodSnapshot {
  readonly podKey: string;
  readonly pod: Pod;
  /** Why the pod takes no part in the market; undefined when it does. */
  readonly scope: OutOfScope | undefined;
  readonly namespace: Namespace | undefined;
  readonly node: Node | undefined;
  readonly allocation: PodAllocation | undefined;
  /** The namespace's LimitRanges combined; undefined without any. */
  readonly limitRange: ResourceRanges | undefined;
  /** All quotas of the namespace, also those that do not bound CPU. */
  readonly quotas: readonly ResourceQuota[];
  /** Messages about LimitRanges and VPAs that can't be read and might bound the pod's limits. */
  readonly unreadable: readonly string[];
  /** The workload that rolls the pod out; undefined for other kinds, and for bare pods. */
  readonly workload: Workload | undefined;
  /** HPAs of the pod's workload. */
  readonly autoscalers: readonly HorizontalPodAutoscaler[];
  /** VPAs of the pod's workload, in any mode. */
  readonly verticalAutoscalers: readonly VerticalPodAutoscaler[];
}

/** A pod with a record. */
export interface RecordedPod extends PodSnapshot {
  readonly allocation: PodAllocation;
}

/** The key of an allocation's pod. */
export function podKeyOf({ metadata, spec }: PodAllocation): string {
  return `${metadata.namespace}/${spec.podName}`;
}

/** The pod under this key with all that belongs to it; undefined when it is gone. */
export function snapshotOf(
  { caches, config }: { readonly caches: ReadCaches; readonly config: ScopeSettings },
  podKey: string,
): PodSnapshot | undefined {
  const pod = caches.pods.get(podKey);
  if (pod === undefined) return undefined;
  const { namespace, uid } = pod.metadata;
  const limitRanges = caches.limitRanges.byIndex(namespace);
  const isForPod = ({ target }: { readonly target: WorkloadRef }): boolean =>
    belongsTo(pod, target);
  const autoscalers = caches.horizontalPodAutoscalers.byIndex(namespace).filter(isForPod);
  const verticalAutoscalers = caches.verticalPodAutoscalers.byIndex(namespace).filter(isForPod);
  const objects = {
    pod,
    namespace: caches.namespaces.get(namespace),
    node: caches.nodes.get(pod.nodeName),
    allocation: caches.allocations.get(`${namespace}/${uid}`),
    limitRange: resourceRangesOf(limitRanges),
    quotas: caches.resourceQuotas.byIndex(namespace),
    unreadable: [
      ...unreadableMessages("LimitRange", limitRanges),
      ...unreadableMessages("VerticalPodAutoscaler", verticalAutoscalers),
    ],
    workload: workloadOf(caches, { namespace, refs: workloadsOf(pod) }),
    autoscalers,
    verticalAutoscalers,
  };
  return { podKey, scope: outOfScope({ ...objects, config }), ...objects };
}

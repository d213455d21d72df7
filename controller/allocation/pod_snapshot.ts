/**
 * Reads everything that a reconcile of one pod needs from the caches.
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
import type { ResourceRanges } from "../../shared/resize/inputs/resize_input.ts";
import { belongsTo, workloadsOf } from "../../shared/resize/workloads_of.ts";
import { type ReadCaches, workloadOf } from "../caches.ts";

/** One pod and what belongs to it. */
export interface PodSnapshot {
  readonly pod: Pod;
  readonly namespace: Namespace | undefined;
  readonly node: Node | undefined;
  readonly allocation: PodAllocation | undefined;
  /** What the namespace's LimitRanges say of CPU; undefined when nothing. */
  readonly limitRange: ResourceRanges | undefined;
  /** The namespace's quotas, those that say nothing of CPU limits too. */
  readonly quotas: readonly ResourceQuota[];
  /** Of all these, those that can't be read and might hold the pod's limits, each with why. */
  readonly unreadable: readonly string[];
  /** The workload that rolls the pod out; undefined for other kinds, and for bare pods. */
  readonly workload: Workload | undefined;
  /** Those that scale the pod's workload. */
  readonly autoscalers: readonly HorizontalPodAutoscaler[];
  /** Those that are for the pod's workload, whatever their mode. */
  readonly verticalAutoscalers: readonly VerticalPodAutoscaler[];
}

/** The key of the pod that an allocation speaks of. */
export function podKeyOf({ metadata, spec }: PodAllocation): string {
  return `${metadata.namespace}/${spec.podName}`;
}

/** The pod under this key with all that belongs to it; undefined when it is gone. */
export function snapshotOf(caches: ReadCaches, podKey: string): PodSnapshot | undefined {
  const pod = caches.pods.get(podKey);
  if (pod === undefined) return undefined;
  const { namespace, uid } = pod.metadata;
  const refs = workloadsOf(pod);
  const limitRanges = caches.limitRanges.byIndex(namespace);
  const quotas = caches.resourceQuotas.byIndex(namespace);
  const isForPod = ({ target }: { readonly target: WorkloadRef }): boolean =>
    belongsTo(pod, target);
  const node = caches.nodes.get(pod.nodeName);
  const workload = workloadOf(caches, { namespace, refs });
  const autoscalers = caches.horizontalPodAutoscalers.byIndex(namespace).filter(isForPod);
  const verticalAutoscalers = caches.verticalPodAutoscalers.byIndex(namespace).filter(isForPod);
  return {
    pod,
    namespace: caches.namespaces.get(namespace),
    node,
    allocation: caches.allocations.get(`${namespace}/${uid}`),
    limitRange: resourceRangesOf(limitRanges),
    quotas,
    unreadable: [
      ...unreadableMessages("LimitRange", limitRanges),
      ...unreadableMessages("VerticalPodAutoscaler", verticalAutoscalers),
    ],
    workload,
    autoscalers,
    verticalAutoscalers,
  };
}

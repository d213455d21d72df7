/**
 * Queues pods when an object that their reconcile reads has changed.
 *
 * @module
 */
import type { ApiObject, Texts } from "../../../shared/api/object.ts";
import { MARKET_PREFIX } from "../../../shared/api/market_keys.ts";
import type { ResourceQuota } from "../../../shared/api/namespace.ts";
import type { Node } from "../../../shared/api/node.ts";
import type { PodAllocation } from "../../../shared/api/pod_allocation.ts";
import {
  isRollingOut,
  type Workload,
  type WorkloadKind,
  type WorkloadRef,
} from "../../../shared/api/workload.ts";
import type { Informer } from "../../../shared/control/informer.ts";
import { namespaceOf, objectKey } from "../../../shared/control/object_key.ts";
import type { WorkQueue } from "../../../shared/control/work_queue.ts";
import { isOldKubelet } from "../../../shared/resize/checks/platform.ts";
import { belongsTo } from "../../../shared/resize/workloads_of.ts";
import { type Caches, podsOnNode } from "../../caches.ts";
import { podKeyOf } from "../pod_snapshot.ts";

/** Adds the node's pods to the queue. */
export function addPodsOn(
  nodeName: string,
  { caches, queue }: { readonly caches: Pick<Caches, "pods">; readonly queue: WorkQueue },
): void {
  for (const { metadata } of podsOnNode(caches.pods, nodeName)) queue.add(objectKey(metadata));
}

/**
 * Adds pods to the queue when an object that their reconcile reads has changed. `noteDesired` is called
 * before the pod of a changed allocation is added. The returned functions end the subscriptions.
 */
export function subscribeQueue(
  caches: Caches,
  { queue, noteDesired }: {
    readonly queue: WorkQueue;
    readonly noteDesired: (podKey: string, allocation: PodAllocation | undefined) => void;
  },
): readonly (() => void)[] {
  const addPodsOf = (namespace: string): void => {
    for (const { metadata } of caches.pods.byIndex(namespace)) queue.add(objectKey(metadata));
  };
  const addPodsOfWorkload = (namespace: string, workload: WorkloadRef): void => {
    for (const pod of caches.pods.byIndex(namespace)) {
      if (belongsTo(pod, workload)) queue.add(objectKey(pod.metadata));
    }
  };
  const addPodOf = (key: string, before: PodAllocation | undefined): void => {
    const allocation = caches.allocations.get(key);
    // The key of a deleted allocation does not name its pod, which may need a new allocation.
    const version = allocation ?? before;
    if (version === undefined) return;
    const podKey = podKeyOf(version);
    noteDesired(podKey, allocation);
    queue.add(podKey);
  };
  /** Calls `changed` with the key and the object's `relevantVersions()`. */
  const watch = <T extends ApiObject>(
    cache: Informer<T>,
    inputOf: (object: T) => unknown,
    changed: (key: string, versions: readonly T[]) => void,
  ): () => void =>
    cache.subscribe((key, before) =>
      changed(key, relevantVersions([before, cache.get(key)], inputOf))
    );
  const workloads = (kind: WorkloadKind, cache: Informer<Workload>): () => void =>
    watch(cache, workloadInput, (_key, [workload]) => {
      if (workload === undefined) return;
      const { namespace, name } = workload.metadata;
      addPodsOfWorkload(namespace, { kind, name });
    });
  const targets = <T extends ApiObject & { readonly target: WorkloadRef }>(
    cache: Informer<T>,
  ): () => void =>
    watch(cache, autoscalerInput, (key, versions) => {
      for (const { target } of versions) addPodsOfWorkload(namespaceOf(key), target);
    });
  return [
    caches.pods.subscribe((key) => queue.add(key)),
    caches.allocations.subscribe(addPodOf),
    caches.namespaces.subscribe(addPodsOf),
    watch(caches.nodes, nodeInput, (nodeName, { length }) => {
      if (length > 0) addPodsOn(nodeName, { caches, queue });
    }),
    caches.limitRanges.subscribe((key) => addPodsOf(namespaceOf(key))),
    workloads("Deployment", caches.deployments),
    workloads("StatefulSet", caches.statefulSets),
    workloads("DaemonSet", caches.daemonSets),
    targets(caches.horizontalPodAutoscalers),
    targets(caches.verticalPodAutoscalers),
    watch(caches.resourceQuotas, quotaInput, (key, { length }) => {
      const namespace = namespaceOf(key);
      if (length > 0) return addPodsOf(namespace);
      // A change of its use alone concerns only the pods that the quota holds.
      for (const allocation of caches.allocations.byIndex(namespace)) {
        if (isHeldByQuota(allocation)) queue.add(podKeyOf(allocation));
      }
    }),
  ];
}

function isHeldByQuota({ status }: PodAllocation): boolean {
  const { containers = [], rules = [] } = status?.bounds ?? {};
  return status?.reason === "QuotaExceeded" ||
    // The pod may have to give back what is above its share.
    containers.some(({ held }) => held === "lower") &&
      rules.some(({ reason }) => reason === "QuotaExceeded");
}

/**
 * An object before and after a change, without a version that does not exist. Empty where both have the
 * same input for pods.
 */
export function relevantVersions<T extends ApiObject>(
  versions: readonly [before: T | undefined, now: T | undefined],
  inputOf: (object: T) => unknown,
): readonly T[] {
  const [before, now] = versions.map((one) => one && JSON.stringify(inputOf(one)));
  return before === now ? [] : versions.filter((one) => one !== undefined);
}

/** The input by a node, which updates its status every few seconds. */
export function nodeInput({ kubeletVersion, os, ready, draining, cordonedAtMs }: Node): unknown {
  return [isOldKubelet(kubeletVersion), os, ready, draining, cordonedAtMs];
}

/** The input by a quota without its used amounts, which change all the time. */
export function quotaInput({ bounds, scopes }: ResourceQuota): unknown {
  return [bounds["limits.cpu"]?.hard, bounds["requests.cpu"]?.hard, scopes];
}

/**
 * The input by a workload: whether it rolls out, and its labels and annotations for the market. Its
 * status changes with each pod, and annotations of rightsizing with each recommendation.
 */
export function workloadInput({ metadata: { labels, annotations }, rollout }: Workload): unknown {
  const ofMarket = (texts: Texts = {}): unknown =>
    Object.entries(texts).filter(([name]) => name.startsWith(MARKET_PREFIX));
  return [isRollingOut(rollout), ofMarket(labels), ofMarket(annotations)];
}

/** The input by an autoscaler: all cached fields but the version, which each status update changes. */
export function autoscalerInput({ metadata, ...rest }: ApiObject): unknown {
  return { ...rest, metadata: { ...metadata, resourceVersion: "" } };
}

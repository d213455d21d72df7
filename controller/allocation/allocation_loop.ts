/**
 * The market clock of the controller: watches, and reconciles the pods that changed.
 *
 * @module
 */
import { belongsTo } from "../../shared/resize/workloads_of.ts";
import type { Workload, WorkloadKind, WorkloadRef } from "../../shared/api/workload.ts";
import type { ApiObject } from "../../shared/api/object.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import { createBackoff } from "../../shared/control/backoff.ts";
import type { Informer } from "../../shared/control/informer.ts";
import { namespaceOf, objectKey } from "../../shared/control/object_key.ts";
import { type ReconcileResult, runReconcileLoop } from "../../shared/control/reconcile_loop.ts";
import { createWorkQueue, type WorkQueue } from "../../shared/control/work_queue.ts";
import { createMetricWatch, type MetricWatch } from "../metrics_demand/metric_watch.ts";
import type { InstantQueries } from "../../shared/instant_queries.ts";
import {
  keptInput,
  nodeInput,
  quotaInput,
  relevantVersions,
  workloadInput,
} from "./watches/relevant_changes.ts";
import { type AgentWatch, createAgentWatch } from "./watches/silent_agents.ts";
import { type Caches, podsOnNode, whenCachesSynced } from "../caches.ts";
import { FairQueue } from "./queues/fair_queue.ts";
import { createNodeWrites } from "./queues/node_writes.ts";
import { createPendingDecreases } from "./queues/resize_queue.ts";
import { createEventGate } from "./events/event_gate.ts";
import { podKeyOf } from "./pod_snapshot.ts";
import type { EventSink } from "../../shared/api/ports.ts";
import { createQuotaBids } from "./quotas/quota_bids.ts";
import { createQuotaRooms } from "./quotas/quota_room.ts";
import { createReconciler } from "./reconcile.ts";
import type { MarketParts, ReconcilerParts } from "./reconcile_snapshot.ts";

/** Ports and settings of the loop. */
export interface AllocationLoopParts extends MarketParts {
  readonly events: EventSink;
  /** Where pods' metrics are asked. */
  readonly instantQueries: InstantQueries;
  /**
   * Calls back when `config` says something else than before, until the returned function is called:
   * then all pods are looked at again. Default: `config` never changes.
   */
  readonly onConfigChange?: (changed: () => void) => () => void;
}

/** Writes per second that publish a change of a node to its pods, for each kind of change. */
const NODE_WRITES_PER_SECOND = 50;
/** Pods that are reconciled at the same time. */
const WORKERS = 8;

/**
 * Reconciles until the signal is aborted. It begins when the caches are in sync: a pod with an
 * allocation that is not cached yet must not look like one that has none.
 */
export async function runAllocationLoop(
  parts: AllocationLoopParts,
  signal: AbortSignal,
): Promise<void> {
  const { caches, clock, log, onConfigChange } = parts;
  const queue = createWorkQueue(clock);
  const decreases = createPendingDecreases(queue.add);
  const queues = createQueues(parts, { queue, signal });
  const watches = createWatches(parts, { queue, resizeQueue: queues.resizeQueue });
  const quotaRooms = createQuotaRooms({
    ...parts,
    bidsOf: createQuotaBids(parts),
    wake: queue.add,
  });
  const events = createEventGate(parts.events, clock);
  const reconcile = createReconciler({
    ...{ ...parts, ...queues, quotaRooms, events, decreases },
    backoff: createBackoff(),
    isSilent: watches.agents.isSilent,
    metricOf: watches.metrics.answerFor,
  });
  /** Before any pod is reconciled: of all that have changed at once decreases go first. */
  const noteDesired = (podKey: string, allocation: PodAllocation | undefined): void =>
    decreases.note(podKey, caches.pods.get(podKey), { allocation, nowMs: clock.monotonic() });
  const addAll = (): void => {
    watches.metrics.wake();
    for (const allocation of caches.allocations.all()) {
      noteDesired(podKeyOf(allocation), allocation);
    }
    for (const { metadata } of caches.pods.all()) queue.add(objectKey(metadata));
  };
  const stops = [
    quotaRooms.stop,
    ...subscribeQueue(caches, { queue, noteDesired }),
    ...(onConfigChange === undefined ? [] : [onConfigChange(addAll)]),
  ];
  try {
    if (!await whenCachesSynced(parts, signal)) return;
    // Objects that a standby's caches already hold cause no event.
    addAll();
    await Promise.all([
      watches.agents.run(signal),
      watches.metrics.run(signal),
      events.run(signal),
      runReconcileLoop({
        ...{ queue, clock, log },
        reconcile: timed(reconcile, parts),
        backoff: createBackoff(),
        workers: WORKERS,
      }, signal),
    ]);
  } finally {
    for (const stop of stops) stop();
  }
}

/** The queues of pods that wait for a limited number of writes a second. */
function createQueues(
  { clock, config }: AllocationLoopParts,
  { queue, signal }: { readonly queue: WorkQueue; readonly signal: AbortSignal },
): Pick<ReconcilerParts, "resizeQueue" | "newAllocations" | "nodeWrites"> {
  const waking = { clock, wake: queue.add, signal };
  const { maxResizesPerSecond, maxNewAllocationsPerSecond } = config;
  return {
    resizeQueue: new FairQueue({ ...waking, perSecond: maxResizesPerSecond }),
    newAllocations: new FairQueue({ ...waking, perSecond: maxNewAllocationsPerSecond }),
    nodeWrites: createNodeWrites({ ...waking, perSecond: NODE_WRITES_PER_SECOND }),
  };
}

/** Watches agents' Leases and pods' metrics, and adds the pods that a change concerns. */
function createWatches(
  parts: AllocationLoopParts,
  { queue, resizeQueue }: {
    readonly queue: WorkQueue;
    readonly resizeQueue: FairQueue;
  },
): { readonly agents: AgentWatch; readonly metrics: MetricWatch } {
  const { caches, clock, config, observer = {} } = parts;
  const agents = createAgentWatch({
    ...{ caches, clock, config },
    onChange: (nodeName) => addPodsOn(nodeName, { caches, queue }),
    observe(verdict) {
      observer.agents?.(verdict);
      observer.queue?.(queue.depth, queue.delayed);
      observer.resizeQueue?.(resizeQueue);
    },
  });
  const metrics = createMetricWatch({
    ...parts,
    source: parts.instantQueries,
    onChange: queue.add,
    observe: (outcome) => observer.metricAnswered?.(outcome),
  });
  return { agents, metrics };
}

/** The same function; it reports how long each reconcile took. */
function timed(
  reconcile: (podKey: string) => Promise<ReconcileResult>,
  { clock, observer }: AllocationLoopParts,
): (podKey: string) => Promise<ReconcileResult> {
  return async (podKey) => {
    const begunMs = clock.monotonic();
    try {
      return await reconcile(podKey);
    } finally {
      observer?.reconciled?.(clock.monotonic() - begunMs);
    }
  };
}

function addPodsOn(
  nodeName: string,
  { caches, queue }: { readonly caches: Pick<Caches, "pods">; readonly queue: WorkQueue },
): void {
  for (const { metadata } of podsOnNode(caches.pods, nodeName)) queue.add(objectKey(metadata));
}

/** Adds pods to the queue when anything that their reconcile reads has changed. */
function subscribeQueue(
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
    const known = allocation ?? before;
    if (known === undefined) return;
    const podKey = podKeyOf(known);
    noteDesired(podKey, allocation);
    queue.add(podKey);
  };
  /** Calls `changed` with the key and its `relevantVersions()`. */
  const watch = <T extends ApiObject>(
    copy: Informer<T>,
    inputOf: (object: T) => unknown,
    changed: (key: string, versions: readonly T[]) => void,
  ): () => void =>
    copy.subscribe((key, before) =>
      changed(key, relevantVersions([before, copy.get(key)], inputOf))
    );
  const workloads = (kind: WorkloadKind, copy: Informer<Workload>): () => void =>
    watch(copy, workloadInput, (_key, [one]) => {
      if (one === undefined) return;
      addPodsOfWorkload(one.metadata.namespace, { kind, name: one.metadata.name });
    });
  const targets = <T extends ApiObject & { readonly target: WorkloadRef }>(
    copy: Informer<T>,
  ): () => void =>
    watch(copy, keptInput, (key, versions) => {
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
      // A change of its use concerns the pods that the quota holds; the others are due now and then.
      for (const allocation of caches.allocations.byIndex(namespace)) {
        if (isHeldByQuota(allocation)) queue.add(podKeyOf(allocation));
      }
    }),
  ];
}

function isHeldByQuota({ status }: PodAllocation): boolean {
  const { containers = [], rules = [] } = status?.bounds ?? {};
  return status?.reason === "QuotaExceeded" ||
    // It may have to give back what is above its share.
    containers.some(({ held }) => held === "lower") &&
      rules.some(({ reason }) => reason === "QuotaExceeded");
}

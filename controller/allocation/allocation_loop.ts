/**
 * The market clock of the controller: watches, and reconciles the pods that changed.
 *
 * @module
 */
import { belongsTo } from "../../shared/resize/workloads_of.ts";
import type { Workload, WorkloadKind, WorkloadRef } from "../../shared/api/workload.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import { createBackoff } from "../../shared/control/backoff.ts";
import type { Informer } from "../../shared/control/informer.ts";
import { namespaceOf, objectKey } from "../../shared/control/object_key.ts";
import { type ReconcileResult, runReconcileLoop } from "../../shared/control/reconcile_loop.ts";
import { createWorkQueue, type WorkQueue } from "../../shared/control/work_queue.ts";
import { createMetricWatch } from "../metrics_demand/metric_watch.ts";
import type { InstantQueries } from "../metrics_demand/ports.ts";
import { createTargetMemory } from "./watches/autoscaler_targets.ts";
import { createAgentWatch } from "./watches/agent_watch.ts";
import { type Caches, podsOnNode } from "../caches.ts";
import { copiesInSync } from "./watches/copies_in_sync.ts";
import { createFairQueue } from "./pace/fair_queue.ts";
import { createNodeWrites } from "./pace/node_writes.ts";
import { createPendingDecreases } from "./pace/resize_turns.ts";
import { createEventGate } from "./events/event_gate.ts";
import { podKeyOf } from "./pod_snapshot.ts";
import { createNodeMemory } from "./watches/node_memory.ts";
import type { EventSink } from "./ports.ts";
import { createQuotaMemory } from "./watches/quota_memory.ts";
import { createQuotaBids } from "./quotas/quota_bids.ts";
import { createQuotaRooms } from "./quotas/quota_room.ts";
import { createReconciler } from "./reconcile.ts";
import type { ReconcilerParts } from "./reconcile_snapshot.ts";
import { createWorkloadMemory } from "./watches/workload_memory.ts";

/**
 * What the loop works with; it makes queue, back-off, rates, the gate for events and the watches over
 * agents and metrics itself.
 */
export interface AllocationLoopParts extends
  Omit<
    ReconcilerParts,
    | "backoff"
    | "turns"
    | "decreases"
    | "newAllocations"
    | "nodeWrites"
    | "quotaRooms"
    | "events"
    | "isSilent"
    | "metricOf"
  > {
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
// deno-lint-ignore house/function-length
export async function runAllocationLoop(
  parts: AllocationLoopParts,
  signal: AbortSignal,
): Promise<void> {
  const { caches, clock, log, config, observer = {} } = parts;
  const queue = createWorkQueue(clock);
  const { maxResizesPerSecond, maxNewAllocationsPerSecond } = config;
  const agents = createAgentWatch({
    caches,
    clock,
    config,
    onChange: addPodsOn,
    observe: (verdict) => {
      observer.agents?.(verdict);
      observer.queue?.(queue.depth, queue.delayed);
      observer.resizeQueue?.(turns);
    },
  });
  const metrics = createMetricWatch({
    ...parts,
    source: parts.instantQueries,
    onChange: queue.add,
    observe: (outcome) => observer.metricAnswered?.(outcome),
  });
  const quotaRooms = createQuotaRooms({
    ...parts,
    bidsOf: createQuotaBids(parts),
    wake: queue.add,
  });
  const events = createEventGate(parts.events, clock);
  const waking = { clock, wake: queue.add, signal };
  const turns = createFairQueue({ ...waking, perSecond: maxResizesPerSecond });
  const decreases = createPendingDecreases(queue.add);
  const reconcile = createReconciler({
    ...parts,
    quotaRooms,
    events,
    backoff: createBackoff(),
    turns,
    decreases,
    newAllocations: createFairQueue({ ...waking, perSecond: maxNewAllocationsPerSecond }),
    nodeWrites: createNodeWrites({ ...waking, perSecond: NODE_WRITES_PER_SECOND }),
    isSilent: agents.isSilent,
    metricOf: metrics.of,
  });
  const timed = async (podKey: string): Promise<ReconcileResult> => {
    const begunMs = clock.monotonic();
    try {
      return await reconcile(podKey);
    } finally {
      observer.reconciled?.(clock.monotonic() - begunMs);
    }
  };
  const lookAtAll = (): void => {
    metrics.wake();
    for (const allocation of caches.allocations.all()) {
      noteDesired(podKeyOf(allocation), allocation);
    }
    for (const { metadata } of caches.pods.all()) queue.add(objectKey(metadata));
  };
  const stops = [
    quotaRooms.stop,
    ...subscribeQueue(caches, { queue, noteDesired, addPodsOn }),
    ...(parts.onConfigChange === undefined ? [] : [parts.onConfigChange(lookAtAll)]),
  ];

  /** Before any pod is looked at: of all that have changed at once decreases go first. */
  function noteDesired(podKey: string, allocation: PodAllocation | undefined): void {
    const pod = caches.pods.get(podKey);
    decreases.note(podKey, { pod, allocation, nowMs: clock.monotonic() });
  }

  function addPodsOn(nodeName: string): void {
    for (const { metadata } of podsOnNode(caches.pods, nodeName)) queue.add(objectKey(metadata));
  }

  try {
    if (!await copiesInSync(parts, signal)) return;
    // Objects that a standby's caches already hold cause no event.
    lookAtAll();
    await Promise.all([
      agents.run(signal),
      metrics.run(signal),
      events.run(signal),
      runReconcileLoop(
        { queue, reconcile: timed, backoff: createBackoff(), clock, log, workers: WORKERS },
        signal,
      ),
    ]);
  } finally {
    for (const stop of stops) stop();
  }
}

/** Puts pods in line when anything that their reconcile reads has changed. */
function subscribeQueue(
  caches: Caches,
  { queue, noteDesired, addPodsOn }: {
    readonly queue: WorkQueue;
    readonly noteDesired: (podKey: string, allocation: PodAllocation | undefined) => void;
    readonly addPodsOn: (nodeName: string) => void;
  },
): readonly (() => void)[] {
  const addPodsOf = (namespace: string): void => {
    for (const { metadata } of caches.pods.byIndex(namespace)) queue.add(objectKey(metadata));
  };
  const addHeldByQuota = (namespace: string): void => {
    for (const allocation of caches.allocations.byIndex(namespace)) {
      if (isHeldByQuota(allocation)) queue.add(podKeyOf(allocation));
    }
  };
  const isAnotherQuota = createQuotaMemory(caches.resourceQuotas);
  // The key of a deleted allocation does not name its pod, which may need a new allocation.
  const podOf = new Map<string, string>();
  for (const allocation of caches.allocations.all()) {
    podOf.set(objectKey(allocation.metadata), podKeyOf(allocation));
  }
  const addPodOf = (key: string): void => {
    const allocation = caches.allocations.get(key);
    const podKey = allocation === undefined ? podOf.get(key) : podKeyOf(allocation);
    if (allocation === undefined) podOf.delete(key);
    else podOf.set(key, podKeyOf(allocation));
    if (podKey === undefined) return;
    noteDesired(podKey, allocation);
    queue.add(podKey);
  };
  const isAnotherNode = createNodeMemory(caches.nodes);
  const addPodsOfChangedNode = (nodeName: string): void => {
    if (isAnotherNode(nodeName)) addPodsOn(nodeName);
  };
  const addPodsOfWorkload = (namespace: string, workload: WorkloadRef): void => {
    for (const pod of caches.pods.byIndex(namespace)) {
      if (belongsTo(pod, workload)) queue.add(objectKey(pod.metadata));
    }
  };
  const workloads = (kind: WorkloadKind, copy: Informer<Workload>): () => void => {
    const isAnother = createWorkloadMemory(copy);
    return copy.subscribe((key) => {
      if (!isAnother(key)) return;
      const namespace = namespaceOf(key);
      addPodsOfWorkload(namespace, { kind, name: key.slice(namespace.length + 1) });
    });
  };
  const addPodsOfTargets =
    (targetsOf: (key: string) => readonly WorkloadRef[]) => (key: string) => {
      for (const target of targetsOf(key)) addPodsOfWorkload(namespaceOf(key), target);
    };
  const { horizontalPodAutoscalers, verticalPodAutoscalers } = caches;
  return [
    caches.pods.subscribe((key) => queue.add(key)),
    caches.allocations.subscribe(addPodOf),
    caches.namespaces.subscribe(addPodsOf),
    caches.nodes.subscribe(addPodsOfChangedNode),
    caches.limitRanges.subscribe((key) => addPodsOf(namespaceOf(key))),
    workloads("Deployment", caches.deployments),
    workloads("StatefulSet", caches.statefulSets),
    workloads("DaemonSet", caches.daemonSets),
    horizontalPodAutoscalers.subscribe(
      addPodsOfTargets(createTargetMemory(horizontalPodAutoscalers)),
    ),
    verticalPodAutoscalers.subscribe(addPodsOfTargets(createTargetMemory(verticalPodAutoscalers))),
    caches.resourceQuotas.subscribe((key) =>
      (isAnotherQuota(key) ? addPodsOf : addHeldByQuota)(namespaceOf(key))
    ),
  ];
}

/** True for a pod that the use of its namespace's quotas concerns; the others look now and then. */
function isHeldByQuota({ status }: PodAllocation): boolean {
  const { containers = [], rules = [] } = status?.bounds ?? {};
  return status?.reason === "QuotaExceeded" ||
    // It may have to give back what is above its share.
    containers.some(({ held }) => held === "lower") &&
      rules.some(({ reason }) => reason === "QuotaExceeded");
}

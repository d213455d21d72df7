/**
 * The market's loop: watches, and reconciles the pods that changed.
 *
 * @module
 */
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import { createBackoff } from "../../shared/control/backoff.ts";
import { objectKey } from "../../shared/control/object_key.ts";
import { type ReconcileResult, runReconcileLoop } from "../../shared/control/reconcile_loop.ts";
import { createWorkQueue, type WorkQueue } from "../../shared/control/work_queue.ts";
import { createMetricWatch, type MetricWatch } from "../metrics_demand/metric_watch.ts";
import type { InstantQueries } from "../../shared/instant_queries.ts";
import { addPodsOn, subscribeQueue } from "./watches/subscribe_queue.ts";
import { type AgentWatch, createAgentWatch } from "./watches/silent_agents.ts";
import { whenCachesSynced } from "../caches.ts";
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
  readonly instantQueries: InstantQueries;
  /**
   * Calls `changed` when `config` has changed, until the returned function is called. All pods are then
   * reconciled again. Default: `config` never changes.
   */
  readonly onConfigChange?: (changed: () => void) => () => void;
}

/** Status writes per second for each cause in `NodeWrites`. */
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
  /** Called before the pods are queued: decreases of all that have changed go before raises. */
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
    // Objects that are in the caches before the term begins cause no event.
    addAll();
    await Promise.all([
      watches.agents.run(signal),
      watches.metrics.run(signal),
      events.run(signal),
      runReconcileLoop({
        queue,
        clock,
        log,
        reconcile: timed(reconcile, parts),
        backoff: createBackoff(),
        workers: WORKERS,
      }, signal),
    ]);
  } finally {
    for (const stop of stops) stop();
  }
}

/** The queues for writes that are limited per second. */
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
    caches,
    clock,
    config,
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

/** The reconcile function; reports to the observer how long each call took. */
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

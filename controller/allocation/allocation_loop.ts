/**
 * The market clock of the controller: watches, and reconciles the pods that changed.
 *
 * @module
 */
import { createBackoff } from "../../shared/control/backoff.ts";
import { createRateLimiter } from "../../shared/control/rate_limiter.ts";
import { runReconcileLoop } from "../../shared/control/reconcile_loop.ts";
import { createWorkQueue } from "../../shared/control/work_queue.ts";
import { createEventGate } from "./event_gate.ts";
import { podKeyOf } from "./gather.ts";
import type { EventSink } from "./ports.ts";
import { createReconciler, type ReconcilerParts } from "./reconcile.ts";

/** What the loop works with; it makes queue, back-off, rates and the gate for events itself. */
export interface AllocationLoopParts extends
  Omit<
    ReconcilerParts,
    "backoff" | "turns" | "unhurriedTurns" | "newAllocations" | "events"
  > {
  readonly events: EventSink;
}

/** Pods that are reconciled at the same time. */
const WORKERS = 8;
/** Changes that nobody waits for may take this share of the rate. */
const UNHURRIED_SHARE = 0.5;

/**
 * Reconciles until the signal is aborted. It begins when all copies are in sync: a pod whose
 * allocation is not in the copy yet must not look like one that has none.
 */
export async function runAllocationLoop(
  parts: AllocationLoopParts,
  signal: AbortSignal,
): Promise<void> {
  const { caches, clock, log, config } = parts;
  const queue = createWorkQueue(clock);
  const events = createEventGate(parts.events, clock);
  const { maxResizesPerSecond, maxNewAllocationsPerSecond } = config;
  const burst = Math.max(1, Math.ceil(maxResizesPerSecond));
  const reconcile = createReconciler({
    ...parts,
    events,
    backoff: createBackoff(),
    turns: createRateLimiter({ perSecond: maxResizesPerSecond, burst }),
    unhurriedTurns: createRateLimiter({ perSecond: maxResizesPerSecond * UNHURRIED_SHARE, burst }),
    newAllocations: createRateLimiter({
      perSecond: maxNewAllocationsPerSecond,
      burst: Math.max(1, Math.ceil(maxNewAllocationsPerSecond)),
    }),
  });
  const addPodsOf = (namespace: string): void => {
    for (const { metadata } of caches.pods.all()) {
      if (metadata.namespace === namespace) queue.add(`${metadata.namespace}/${metadata.name}`);
    }
  };
  // When an allocation is gone its pod can't be told from its key: the pod may need a new one.
  const podOf = new Map<string, string>();
  const addPodOf = (key: string): void => {
    const allocation = caches.allocations.get(key);
    const podKey = allocation === undefined ? podOf.get(key) : podKeyOf(allocation);
    if (allocation === undefined) podOf.delete(key);
    else podOf.set(key, podKeyOf(allocation));
    if (podKey !== undefined) queue.add(podKey);
  };
  const stops = [
    caches.pods.subscribe((key) => queue.add(key)),
    caches.allocations.subscribe(addPodOf),
    caches.namespaces.subscribe(addPodsOf),
  ];
  try {
    const { pods, allocations, namespaces, nodes } = caches;
    for (const informer of [pods, allocations, namespaces, nodes]) {
      if (!await informer.whenSynced(signal)) return;
    }
    await runReconcileLoop(
      { queue, reconcile, backoff: createBackoff(), log, workers: WORKERS },
      signal,
    );
  } finally {
    for (const stop of stops) stop();
  }
}

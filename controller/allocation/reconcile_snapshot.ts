/**
 * The snapshot of one reconcile, and what the reconciles of all pods share.
 *
 * @module
 */
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import type { Clock } from "../../shared/clock.ts";
import type { Backoff } from "../../shared/control/backoff.ts";
import type { Log } from "../../shared/log.ts";
import type { Random } from "../../shared/random.ts";
import { isLive, type OutOfScope } from "../../shared/resize/scope.ts";
import { type Caches, outOfSync } from "../caches.ts";
import type { MarketConfig } from "../config.ts";
import type { MetricWatch } from "../metrics_demand/metric_watch.ts";
import type { AllocationStore, PodResizer } from "../resize/ports.ts";
import { nodeCeiling } from "./bounds/node_room.ts";
import type { BoundsSources } from "./bounds/publish_bounds.ts";
import type { EventGate } from "./events/event_gate.ts";
import type { PodEvents } from "./events/pod_events.ts";
import { findOriginals, type FoundOriginals, withOriginals } from "./original_limits.ts";
import type { APIBackoff } from "./pace/api_backoff.ts";
import type { FairQueue } from "./pace/fair_queue.ts";
import type { NodeWrites } from "./pace/node_writes.ts";
import type { PendingDecreases } from "./pace/resize_turns.ts";
import { isCurrent, type PodMemories, type PodMemory, refusalLeftMs } from "./pod_memory.ts";
import type { PodSnapshot } from "./pod_snapshot.ts";
import type { AllocationObserver, OwnerTemplates } from "./ports.ts";
import type { QuotaRoom, QuotaRooms } from "./quotas/quota_room.ts";
import type { RolloutMemory } from "./watches/rollout_memory.ts";

/** What the reconciles of all pods share. */
export interface ReconcilerParts {
  readonly resizer: PodResizer;
  readonly caches: Caches;
  readonly store: AllocationStore;
  readonly templates: OwnerTemplates;
  readonly events: EventGate;
  readonly clock: Clock;
  /** Spreads reconciles over time. */
  readonly random: Random;
  readonly log: Log;
  readonly config: MarketConfig;
  /** Waits after refusals, per pod. */
  readonly backoff: Backoff;
  /** All resizes; held when the server is busy. */
  readonly turns: FairQueue;
  /** Raises wait for them. */
  readonly decreases: PendingDecreases;
  readonly newAllocations: FairQueue;
  /** Writes that concern all pods of a node. */
  readonly nodeWrites: NodeWrites;
  readonly quotaRooms: QuotaRooms;
  /** True for a node with an agent that has not renewed its lease. */
  readonly isSilent: (nodeName: string) => boolean;
  /** What a metric says of the pod; default: nothing of any. */
  readonly metricOf?: MetricWatch["of"];
  readonly observer?: AllocationObserver;
}

/** With what a reconciler keeps between reconciles. */
export interface ReconcileContext extends ReconcilerParts {
  readonly conflicts: Backoff;
  readonly apiBackoff: APIBackoff;
  readonly memories: PodMemories;
  readonly podEvents: PodEvents;
  readonly rolloutStillSince: RolloutMemory;
}

/** A pod with what the caches and the scope say of it. */
export interface ObservedPod extends PodSnapshot {
  readonly podKey: string;
  /** Why the pod takes no part; undefined when it does. */
  readonly scope: OutOfScope | undefined;
}

/** What `decide` reads. */
export interface ReconcileSnapshot extends ObservedPod {
  /** With the original limits that were found. */
  readonly allocation: PodAllocation;
  /** False where the record has none yet. */
  readonly hasStatus: boolean;
  readonly memory: PodMemory;
  readonly found: FoundOriginals;
  /** False while the cache is out of step, or may not know of the last patch yet. */
  readonly current: boolean;
  /** Kinds of objects with a copy that does not follow the server. */
  readonly outOfSync: readonly string[];
  readonly isPodCopySynced: boolean;
  /** True while the agent of the pod's node has not renewed its lease. */
  readonly isAgentSilent: boolean;
  /** Present for a pod with bounds that are published. */
  readonly bounds: BoundsSources | undefined;
  /** What the quotas leave for raises, at the moment of a call; undefined when none binds. */
  readonly quota: QuotaRoom | undefined;
  /** The waits after refusals that are left, ms. */
  readonly backOffMs: Readonly<Record<"market" | "restore", number>>;
  readonly nowMs: number;
  /** Ms since 1970. */
  readonly wallMs: number;
}

/** Finds the pod's original limits; reads the template of its owner only where it must. */
export function readOriginals(
  { podKey, pod, allocation }: ObservedPod & { readonly allocation: PodAllocation },
  { caches, clock, memories, templates }: ReconcileContext,
): Promise<FoundOriginals> {
  const memory = memories.of(podKey, pod);
  const nowMs = clock.monotonic();
  const current = caches.pods.synced && isCurrent(memory, { pod, nowMs });
  return findOriginals({ pod, allocation, memory }, { templates, nowMs, current });
}

/** Reads everything else that a reconcile decides by. */
export function takeSnapshot(
  observed: ObservedPod & { readonly allocation: PodAllocation },
  { found, context }: {
    readonly found: FoundOriginals;
    readonly context: ReconcileContext;
  },
): ReconcileSnapshot {
  const { caches, clock, memories, apiBackoff } = context;
  const { podKey, pod, scope, allocation, workload } = observed;
  const memory = memories.of(podKey, pod);
  const nowMs = clock.monotonic();
  const wallMs = clock.wall();
  const current = caches.pods.synced && isCurrent(memory, { pod, nowMs });
  const record = withOriginals(allocation, found);
  const quota = context.quotaRooms.of(observed);
  const isAgentSilent = context.isSilent(pod.nodeName);
  // Nothing reads the bounds of a silent agent's pods, and nothing may delay their original limits.
  const isPublished = scope === undefined && isLive(pod) && found.known && !isAgentSilent;
  const backOffMs = (restoring: boolean): number => {
    const attempt = { podKey, nowMs, restoring };
    return Math.max(apiBackoff.leftMs(attempt), refusalLeftMs(memory, attempt));
  };
  return {
    ...observed,
    ...{ memory, found, current, quota, isAgentSilent, nowMs, wallMs },
    allocation: record,
    hasStatus: allocation.status !== undefined,
    outOfSync: outOfSync(caches),
    isPodCopySynced: caches.pods.synced,
    bounds: isPublished
      ? {
        quota: quota?.bounds(),
        metric: context.metricOf?.(pod, record),
        rolloutStillSinceMs: context.rolloutStillSince(workload, wallMs),
        nodeCeiling: nodeCeiling(observed, caches.pods),
      }
      : undefined,
    backOffMs: { market: backOffMs(false), restore: backOffMs(true) },
  };
}

/**
 * The snapshot of one reconcile, and what the reconciles of all pods share.
 *
 * @module
 */
import { isRollingOut, type Workload } from "../../shared/api/workload.ts";
import type { AuditLog } from "../../shared/audit_log.ts";
import type { Clock } from "../../shared/clock.ts";
import type { Backoff } from "../../shared/control/backoff.ts";
import type { Log } from "../../shared/log.ts";
import type { Random } from "../../shared/random.ts";
import { isLive } from "../../shared/resize/scope.ts";
import { type Caches, outOfSync } from "../caches.ts";
import type { MarketConfig } from "../config.ts";
import type { MetricWatch } from "../metrics_demand/metric_watch.ts";
import type { AllocationStore, OwnerTemplates } from "../../shared/api/ports.ts";
import type { PodResizer } from "../../shared/resize/patch.ts";
import { nodeCeiling } from "./bounds/namespace_bounds.ts";
import type { BoundsSources } from "./bounds/publish_bounds.ts";
import type { EventGate } from "./events/event_gate.ts";
import { findOriginals, type FoundOriginals } from "./original_limits.ts";
import type { APIBackoff } from "./queues/api_backoff.ts";
import type { FairQueue } from "./queues/fair_queue.ts";
import type { NodeWrites } from "./queues/node_writes.ts";
import type { PendingDecreases } from "./queues/resize_queue.ts";
import { isCurrent, type PodMemories, type PodMemory } from "./pod_memory.ts";
import type { RecordedPod } from "./pod_snapshot.ts";
import type { AllocationObserver } from "./ports.ts";
import type { PodQuotaRoom, QuotaRooms } from "./quotas/quota_room.ts";

/** Ports and settings of the market's loop. */
export interface MarketParts {
  readonly resizer: PodResizer;
  readonly caches: Caches;
  readonly store: AllocationStore;
  readonly templates: OwnerTemplates;
  readonly clock: Clock;
  /** Spreads reconciles over time. */
  readonly random: Random;
  readonly log: Log;
  readonly audit?: AuditLog;
  readonly config: MarketConfig;
  readonly observer?: AllocationObserver;
}

/** The parts that the reconciles of all pods share. */
export interface ReconcilerParts extends MarketParts {
  readonly events: EventGate;
  /** Waits after refusals, per pod. */
  readonly backoff: Backoff;
  /** The queue of all resizes; held when the server is busy. */
  readonly resizeQueue: FairQueue;
  readonly decreases: PendingDecreases;
  readonly newAllocations: FairQueue;
  readonly nodeWrites: NodeWrites;
  readonly quotaRooms: QuotaRooms;
  /** True for a node with an agent that has not renewed its lease. */
  readonly isSilent: (nodeName: string) => boolean;
  /** The pod's demand by a metric. @default {undefined for each pod} */
  readonly metricOf?: MetricWatch["answerFor"];
}

/** The parts, and what is remembered between reconciles. */
export interface ReconcileContext extends ReconcilerParts {
  readonly conflicts: Backoff;
  readonly apiBackoff: APIBackoff;
  readonly memories: PodMemories;
  readonly rolloutStillSince: ReturnType<typeof createRolloutMemory>;
}

/** The input of `decide`. */
export interface ReconcileSnapshot extends RecordedPod {
  /** False where the record has no status yet. */
  readonly hasStatus: boolean;
  readonly memory: PodMemory;
  readonly originals: FoundOriginals;
  /** True when the cached pod is in sync and not older than the last patch. */
  readonly current: boolean;
  /** Names of the caches that are out of sync. */
  readonly outOfSync: readonly string[];
  readonly isPodCopySynced: boolean;
  readonly isAgentSilent: boolean;
  /** Undefined for a pod with bounds that are not to be published. */
  readonly bounds: BoundsSources | undefined;
  readonly quota: PodQuotaRoom | undefined;
  readonly nowMs: number;
  /** Ms since 1970. */
  readonly wallMs: number;
}

/** Reads all that a reconcile decides by; the template of the pod's owner only where it must. */
export async function takeSnapshot(
  observed: RecordedPod,
  context: ReconcileContext,
): Promise<ReconcileSnapshot> {
  const { caches, clock, memories } = context;
  const { podKey, pod, scope, workload } = observed;
  const memory = memories.getOrCreate(podKey, pod);
  const isCurrentNow = (nowMs: number): boolean =>
    caches.pods.synced && isCurrent(memory, { pod, nowMs });
  const askedMs = clock.monotonic();
  const originals = await findOriginals(pod, observed.allocation, {
    memory,
    templates: context.templates,
    nowMs: askedMs,
    current: isCurrentNow(askedMs),
  });
  const nowMs = clock.monotonic();
  const wallMs = clock.wall();
  const { status } = observed.allocation;
  const allocation = originals.unrecorded === undefined
    ? observed.allocation
    : { ...observed.allocation, status: { ...status, ...originals.unrecorded } };
  const quota = context.quotaRooms.roomOf(observed);
  const isAgentSilent = context.isSilent(pod.nodeName);
  // A silent agent reads no bounds, and writing them would delay the restore of the original limits.
  const isPublished = scope === undefined && isLive(pod) && originals.known && !isAgentSilent;
  return {
    ...observed,
    ...{ memory, originals, allocation, quota, isAgentSilent, nowMs, wallMs },
    current: isCurrentNow(nowMs),
    hasStatus: status !== undefined,
    outOfSync: outOfSync(caches),
    isPodCopySynced: caches.pods.synced,
    bounds: isPublished
      ? {
        quota: quota?.bounds(),
        metric: context.metricOf?.(pod, allocation),
        rolloutStillSinceMs: context.rolloutStillSince(workload, wallMs),
        nodeCeiling: nodeCeiling(observed, caches.pods),
      }
      : undefined,
  };
}

/** A workload with no reconciled pod for this long, ms, is forgotten. */
const FORGET_MS = 60 * 60_000;

/**
 * Makes a function that returns since when the workload's counts are unchanged; undefined while it does
 * not roll out. A rollout that is seen for the first time has just made progress.
 */
export function createRolloutMemory(): (
  workload: Workload | undefined,
  nowMs: number,
) => number | undefined {
  const seen = new Map<string, { counts: string; sinceMs: number; askedMs: number }>();
  return (workload, nowMs) => {
    if (workload === undefined) return undefined;
    const { metadata: { uid }, rollout: { updated, total } } = workload;
    if (!isRollingOut(workload.rollout)) {
      seen.delete(uid);
      return undefined;
    }
    const counts = `${updated} ${total}`;
    const last = seen.get(uid);
    if (last === undefined) {
      for (const [other, { askedMs }] of seen) if (nowMs - askedMs > FORGET_MS) seen.delete(other);
    }
    const sinceMs = last?.counts === counts ? last.sinceMs : nowMs;
    seen.set(uid, { counts, sinceMs, askedMs: nowMs });
    return sinceMs;
  };
}

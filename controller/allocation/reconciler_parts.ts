/**
 * What a reconcile of a pod works with.
 *
 * @module
 */
import type { Clock } from "../../shared/clock.ts";
import type { Backoff } from "../../shared/control/backoff.ts";
import type { Log } from "../../shared/log.ts";
import type { Random } from "../../shared/random.ts";
import type { MarketConfig } from "../config.ts";
import type { MetricWatch } from "../metrics_demand/metric_watch.ts";
import type { AllocationStore, PodResizer } from "../resize/ports.ts";
import type { Caches } from "../caches.ts";
import type { EventGate } from "./events/event_gate.ts";
import type { AllocationObserver, OwnerTemplates } from "./ports.ts";
import type { QuotaRooms } from "./quotas/quota_room.ts";
import type { FairQueue } from "./pace/fair_queue.ts";
import type { NodeWrites } from "./pace/node_writes.ts";
import type { PendingDecreases } from "./pace/pending_decreases.ts";

/** The copies, the hands and the pace of all reconciles. */
export interface ReconcilerParts {
  readonly resizer: PodResizer;
  readonly caches: Caches;
  readonly store: AllocationStore;
  readonly templates: OwnerTemplates;
  readonly events: EventGate;
  readonly clock: Clock;
  /** Spreads the looks at pods over time. */
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

/**
 * When a resize may be sent: how soon it is needed, and which decreases it waits for.
 *
 * @module
 */
import type { Pod } from "../../../shared/api/pod.ts";
import type { PodAllocation } from "../../../shared/api/pod_allocation.ts";
import { MARKET_REASONS } from "../../../shared/api/reasons/market_reasons.ts";
import {
  type ChangeReason,
  isUnhurried,
  listedReason,
} from "../../../shared/api/reasons/reasons.ts";
import { netChange } from "../../../shared/resize/inputs/cut_raises.ts";
import { limitsWanted } from "../../../shared/resize/inputs/subject.ts";
import { desiredLimits } from "../../../shared/resize/original_limits.ts";
import type { FairQueue, TurnRequest } from "./fair_queue.ts";

/** Why the market changes the limits; an agent of another version may have a reason that is unknown. */
export function marketCause({ market }: Pick<PodAllocation["spec"], "market">): ChangeReason {
  return market === undefined ? "FirstClearing" : listedReason(MARKET_REASONS, market.reason);
}

/** A change of a pod's limits that is about to be sent. Millicores. */
export interface ResizeRequest {
  /** True when the original limits come back. */
  readonly restoring: boolean;
  readonly reason: ChangeReason;
  /** Change of the pod's total. */
  readonly net: number;
  /** The pod's total before it. */
  readonly total: number;
}

/** True for a decrease that pays for raises, or that scarce CPU or a lower ceiling calls for. */
function paysForRaises({ restoring, reason, net }: ResizeRequest): boolean {
  return !restoring && net < 0 && !isUnhurried(reason);
}

/**
 * Decreases that pay for raises on the same node and were not sent yet: after an outage, desired limits
 * of many pods differ from those in force, and raises sent first would exceed what the node has. Times are
 * ms of the monotonic clock.
 */
export interface PendingDecreases {
  /** Notes that the pod's allocation may be another one. */
  note(podKey: string, seen: DesiredOfPod): void;
  /** The pod's decrease was sent, or the pod is gone. */
  settle(podKey: string): void;
  /** How long a raise on the node waits for decreases at most; 0: there are none. */
  waitMs(raise: RaiseOfPod): number;
}

/** What is known of a pod. */
export interface DesiredOfPod {
  readonly pod: Pod | undefined;
  readonly allocation: PodAllocation | undefined;
  readonly nowMs: number;
}

/** A raise that is about to be sent. */
export interface RaiseOfPod {
  readonly podKey: string;
  readonly nodeName: string;
  readonly nowMs: number;
}

interface Pending {
  readonly nodeName: string;
  readonly desired: string | undefined;
  readonly sinceMs: number;
}

/** A raise waits no longer, ms: what keeps the decrease from being sent may last. */
const PATIENCE_MS = 5000;

/**
 * Makes an empty one. When the last decrease is settled it calls `wake` with each pod that waited to be
 * raised.
 */
export function createPendingDecreases(wake: (podKey: string) => void): PendingDecreases {
  const pending = new Map<string, Pending>();
  const byNode = new Map<string, Set<string>>();
  const waiting = new Map<string, Set<string>>();

  function settle(podKey: string): void {
    const nodeName = pending.get(podKey)?.nodeName;
    if (nodeName === undefined) return;
    pending.delete(podKey);
    const others = byNode.get(nodeName);
    others?.delete(podKey);
    if (others !== undefined && others.size > 0) return;
    byNode.delete(nodeName);
    const raises = waiting.get(nodeName) ?? [];
    waiting.delete(nodeName);
    for (const raise of raises) wake(raise);
  }

  return {
    note(podKey, { pod, allocation, nowMs }) {
      if (pod === undefined || allocation === undefined || !isDecrease(pod, allocation)) {
        return settle(podKey);
      }
      const { nodeName } = pod;
      const { desiredCPULimit: desired } = allocation.spec;
      const known = pending.get(podKey);
      if (known?.desired === desired && known?.nodeName === nodeName) return;
      pending.set(podKey, { nodeName, desired, sinceMs: nowMs });
      byNode.set(nodeName, (byNode.get(nodeName) ?? new Set()).add(podKey));
    },
    settle,
    waitMs({ podKey, nodeName, nowMs }) {
      let leftMs = 0;
      for (const other of byNode.get(nodeName) ?? []) {
        const { sinceMs = -Infinity } = pending.get(other) ?? {};
        if (other !== podKey) leftMs = Math.max(leftMs, sinceMs + PATIENCE_MS - nowMs);
      }
      if (leftMs > 0) waiting.set(nodeName, (waiting.get(nodeName) ?? new Set()).add(podKey));
      return leftMs;
    },
  };
}

/** True when the market wants less for the pod than its spec has, so that others can have more. */
function isDecrease(pod: Pod, { spec }: PodAllocation): boolean {
  const net = netChange(pod, limitsWanted(pod, desiredLimits(spec)));
  return paysForRaises({ restoring: false, reason: marketCause(spec), net, total: 0 });
}

/** A decrease by a smaller share of the pod's limits is small. */
const SMALL_SHARE = 0.25;

/**
 * Restores go first, then decreases that pay for raises, raises out of throttling, other raises, and at
 * last changes that no container waits for. Of these, small decreases need not wait in a long queue.
 */
export function turnFor(change: ResizeRequest): Pick<TurnRequest, "urgency" | "droppable"> {
  const { restoring, reason, net, total } = change;
  if (restoring) return { urgency: 0 };
  if (isUnhurried(reason)) return { urgency: 4, droppable: net < 0 && -net < SMALL_SHARE * total };
  if (paysForRaises(change)) return { urgency: 1 };
  return { urgency: reason === "Throttled" || reason === "StartupBoost" ? 2 : 3 };
}

/** 0 when the pod's resize may be sent now, otherwise when to ask again at the latest, ms. */
export function turnWaitMs(
  { turns, decreases }: { readonly turns: FairQueue; readonly decreases: PendingDecreases },
  request: ResizeRequest & RaiseOfPod,
): number {
  const isRaise = request.net > 0 && !request.restoring;
  const unpaidMs = isRaise ? decreases.waitMs(request) : 0;
  if (unpaidMs > 0) return unpaidMs;
  return turns.take({ podKey: request.podKey, ...turnFor(request) }) ? 0 : Infinity;
}

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
import { limitsWanted, marketSubject, netChange } from "../../../shared/resize/inputs/subject.ts";
import { desiredLimits } from "../../../shared/resize/original_limits.ts";
import type { FairQueue, QueuedResize } from "./fair_queue.ts";

/** Why the market changes the limits; `listedReason()` handles reasons of agents of other versions. */
export function marketCause({ market }: Pick<PodAllocation["spec"], "market">): ChangeReason {
  return market === undefined ? "FirstClearing" : listedReason(MARKET_REASONS, market.reason);
}

/** A change of a pod's limits that is about to be sent. Millicores. */
export interface ResizeRequest {
  readonly restoring: boolean;
  readonly reason: ChangeReason;
  /** Change of the pod's total. */
  readonly net: number;
  /** The pod's total before it. */
  readonly total: number;
}

/** True for a decrease that pays for raises, or that scarce CPU or a lower ceiling calls for. */
function paysForRaises({ reason, net }: Pick<ResizeRequest, "reason" | "net">): boolean {
  return net < 0 && !isUnhurried(reason);
}

/** A pod on a node. */
export interface PlacedPod {
  readonly podKey: string;
  readonly nodeName: string;
  readonly nowMs: number;
}

/**
 * Decreases that pay for raises on the same node and were not sent yet. After an outage the desired
 * limits of many pods differ from those in force: if raises went first, limits would exceed the node.
 */
export interface PendingDecreases {
  /** Notes the pod's desired limits, which may have changed. */
  note(
    podKey: string,
    pod: Pod | undefined,
    seen: { readonly allocation: PodAllocation | undefined; readonly nowMs: number },
  ): void;
  /** The pod's decrease was sent, or the pod is gone. */
  settle(podKey: string): void;
  /** How long a raise of this pod waits for decreases at most; 0: there are none. */
  waitMs(raise: PlacedPod): number;
}

/** A raise waits no longer than this, ms: the decrease may be kept from being sent for long. */
const PATIENCE_MS = 5000;

/** Decreases that a node's raises wait for, and the pods that wait. */
interface NodeDecreases {
  /** By pod key: since when its decrease waits to be sent, ms. */
  readonly decreases: Map<string, number>;
  readonly raises: Set<string>;
}

/** No decreases yet. When a node's last decrease is settled, `wake` is called for each waiting raise. */
export function createPendingDecreases(wake: (podKey: string) => void): PendingDecreases {
  const nodeOf = new Map<string, string>();
  const nodes = new Map<string, NodeDecreases>();

  function settle(podKey: string): void {
    const nodeName = nodeOf.get(podKey) ?? "";
    const node = nodes.get(nodeName);
    nodeOf.delete(podKey);
    node?.decreases.delete(podKey);
    if (node === undefined || node.decreases.size > 0) return;
    nodes.delete(nodeName);
    for (const raise of node.raises) wake(raise);
  }

  return {
    note(podKey, pod, { allocation, nowMs }) {
      if (pod === undefined || allocation === undefined || !isDecrease(pod, allocation)) {
        return settle(podKey);
      }
      if ((nodeOf.get(podKey) ?? pod.nodeName) !== pod.nodeName) settle(podKey);
      const node = nodes.get(pod.nodeName) ?? { decreases: new Map(), raises: new Set() };
      nodeOf.set(podKey, pod.nodeName);
      nodes.set(pod.nodeName, node);
      // A new value keeps the time: a pod with refused resizes may have a new one each second.
      node.decreases.set(podKey, node.decreases.get(podKey) ?? nowMs);
    },
    settle,
    waitMs({ podKey, nodeName, nowMs }) {
      const node = nodes.get(nodeName);
      let leftMs = 0;
      for (const [other, sinceMs] of node?.decreases ?? []) {
        if (other !== podKey) leftMs = Math.max(leftMs, sinceMs + PATIENCE_MS - nowMs);
      }
      if (leftMs > 0) node?.raises.add(podKey);
      return leftMs;
    },
  };
}

/** True when the desired limits are below those in the pod's spec, so that other pods can have more. */
function isDecrease(pod: Pod, { spec }: PodAllocation): boolean {
  const net = netChange(marketSubject(pod), limitsWanted(pod, desiredLimits(spec)));
  return paysForRaises({ reason: marketCause(spec), net });
}

/** A decrease by a smaller share of the pod's limits is small. */
const SMALL_SHARE = 0.25;

/**
 * Restores go first, then decreases that pay for raises, raises of throttled or starting pods, other
 * raises, and last the changes that no container waits for; small decreases among these are droppable.
 */
export function urgencyOf(change: ResizeRequest): Pick<QueuedResize, "urgency" | "droppable"> {
  const { restoring, reason, net, total } = change;
  if (restoring) return { urgency: 0 };
  if (isUnhurried(reason)) return { urgency: 4, droppable: net < 0 && -net < SMALL_SHARE * total };
  if (paysForRaises(change)) return { urgency: 1 };
  return { urgency: reason === "Throttled" || reason === "StartupBoost" ? 2 : 3 };
}

/** 0 when the pod's resize may be sent now, otherwise when to ask again at the latest, ms. */
export function queueWaitMs(
  { resizeQueue, decreases }: {
    readonly resizeQueue: FairQueue;
    readonly decreases: PendingDecreases;
  },
  request: ResizeRequest & PlacedPod,
): number {
  const isRaise = request.net > 0 && !request.restoring;
  const unpaidMs = isRaise ? decreases.waitMs(request) : 0;
  if (unpaidMs > 0) return unpaidMs;
  return resizeQueue.take({ podKey: request.podKey, ...urgencyOf(request) }) ? 0 : Infinity;
}

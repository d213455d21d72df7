/**
 * When a resize may be sent: how soon it is needed, and which decreases it waits for.
 *
 * @module
 */
import { isUnhurried } from "../../../shared/api/reasons/reasons.ts";
import type { FairQueue, TurnRequest } from "./fair_queue.ts";
import {
  paysForRaises,
  type PendingDecreases,
  type RaiseOfPod,
  type ResizeRequest,
} from "./pending_decreases.ts";

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

/**
 * The event about a new status, or about the rate of resizes as its cause.
 *
 * @module
 */
import type { PodAllocation, PodAllocationStatus } from "../../../shared/api/pod_allocation.ts";
import type { EnforcementReason } from "../../../shared/api/reasons/enforcement_reasons.ts";
import { formatCPU, sumCPU } from "../../../shared/quantity.ts";
import type { Decision } from "../../../shared/resize/chain.ts";
import type { MarketConfig } from "../../config.ts";
import { namespaceSubject } from "../bounds/annotation_warning.ts";
import type { FairQueue } from "../pace/fair_queue.ts";
import { marketCause } from "../pace/resize_turns.ts";
import type { PodSnapshot } from "../pod_snapshot.ts";
import { originalValues } from "../../../shared/resize/original_limits.ts";
import type { GatedEvent } from "./event_gate.ts";

/** A message and its kind. */
export type EventText = Pick<GatedEvent, "reason" | "key" | "message">;

/** What waits for a node's agent or a copy of the API's objects concerns many pods: it is no event. */
export const QUIET_HOLDS: ReadonlySet<EnforcementReason> = new Set([
  "Waiting",
  "BoundsStale",
  "OutOfSync",
]);

/** The event for the status that follows a decision; undefined when nothing has changed. */
export function statusEvent(
  before: PodAllocation,
  { decision, status }: { readonly decision: Decision; readonly status: PodAllocationStatus },
): EventText | undefined {
  const { reason, message = "" } = decision;
  if (reason === "Restored") return { reason: "CPULimitsRestored", message };
  if (reason === undefined || QUIET_HOLDS.has(reason)) return undefined;
  if (reason !== "Applied") {
    return { reason: "CPULimitHeld", key: reason, message: `${reason}: ${message}` };
  }
  const from = before.status?.appliedCPULimit ?? ownTotal(before);
  if (from === status.appliedCPULimit) return undefined;
  const change = `${from} → ${status.appliedCPULimit ?? "unknown"}`;
  return { reason: "CPULimitApplied", message: `${change} (${marketCause(before.spec)})` };
}

/** The original limit of the whole pod, as a quantity. */
function ownTotal({ status }: PodAllocation): string {
  return formatCPU(sumCPU(originalValues(status?.originalLimits).values()));
}

/** One event for all pods of the namespace: each of them waits for the same rate. */
export function bottleneckEvent(
  { namespace }: Pick<PodSnapshot, "namespace">,
  { turns, config }: {
    readonly turns: Pick<FairQueue, "waiting">;
    readonly config: Pick<MarketConfig, "maxResizesPerSecond">;
  },
): Pick<GatedEvent, "type" | "reason" | "key" | "message" | "about"> {
  return {
    type: "Warning",
    reason: "CPULimitHeld",
    key: "RateLimited",
    message: `RateLimited: ${turns.waiting} resizes wait, more than ` +
      `controller.maxResizesPerSecond, ${config.maxResizesPerSecond}, lets through soon: the most ` +
      "urgent go first, and small decreases are put off",
    ...(namespace === undefined ? {} : { about: namespaceSubject(namespace) }),
  };
}

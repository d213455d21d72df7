/**
 * The event about a new status.
 *
 * @module
 */
import type { PodAllocation, PodAllocationStatus } from "../../../shared/api/pod_allocation.ts";
import type { EnforcementReason } from "../../../shared/api/reasons/enforcement_reasons.ts";
import { formatCPU, sumCPU } from "../../../shared/quantity.ts";
import type { Decision } from "../../../shared/resize/chain.ts";
import { marketCause } from "../market_cause.ts";
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

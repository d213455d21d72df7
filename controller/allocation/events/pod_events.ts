/**
 * Events that reconciling a pod emits: on the pod, or on an object that many pods share.
 *
 * @module
 */
import type { Pod } from "../../../shared/api/pod.ts";
import type { PodAllocation, PodAllocationStatus } from "../../../shared/api/pod_allocation.ts";
import type { EventSubject } from "../../../shared/api/ports.ts";
import { BOUND_REASONS, type BoundReason } from "../../../shared/api/reasons/bound_reasons.ts";
import { ENFORCEMENT_REASONS } from "../../../shared/api/reasons/enforcement_reasons.ts";
import type { Reason } from "../../../shared/api/reasons/reason.ts";
import { MARKET_REASONS } from "../../../shared/api/reasons/market_reasons.ts";
import { formatCPU, sumCPU } from "../../../shared/quantity.ts";
import type { Decision } from "../../../shared/resize/chain.ts";
import { originalValues } from "../../../shared/resize/original_limits.ts";
import type { MarketConfig } from "../../config.ts";
import type { KnownRule } from "../bounds/bounds.ts";
import type { FairQueue } from "../queues/fair_queue.ts";
import { marketCause } from "../queues/resize_queue.ts";
import type { PodMemory } from "../pod_memory.ts";
import type { PodSnapshot } from "../pod_snapshot.ts";
import type { ReconcileContext, ReconcileSnapshot } from "../reconcile_snapshot.ts";
import { type AnnotationWarning, eventSubject } from "../ports.ts";
import type { GatedEvent } from "./event_gate.ts";

/** True for reasons that give no event; a bound and a status may have the same one, with other flags. */
export function isQuiet({ quiet }: Reason): boolean {
  return quiet === true;
}

/** An event of a pod; `about` is there only where the event is about an object that pods share. */
export type EventText = Omit<GatedEvent, "about" | "pod"> & { readonly about?: EventSubject };

/** One event on the pod, or on what it shares with others. */
export function emitEvent(
  { metadata }: Pod,
  { about, ...event }: EventText,
  { events }: Pick<ReconcileContext, "events">,
): void {
  const { namespace, name, uid } = metadata;
  const pod = { namespace, name, uid };
  events.emit({
    ...event,
    ...(about === undefined
      ? { about: { apiVersion: "v1", kind: "Pod", ...pod } }
      : { about, pod }),
  });
}

/** Reports limits that another field manager has set, and limits that the kernel does not enforce. */
export function reportForeignChanges(
  snapshot: ReconcileSnapshot,
  context: Pick<ReconcileContext, "events" | "log">,
): void {
  const { pod, originals } = snapshot;
  const { namespace, name } = pod.metadata;
  for (const { container, from = "none", to, manager } of originals.foreign) {
    const change = { pod: `${namespace}/${name}`, container, from, to, manager };
    context.log.info("Original limit changed", change);
    const message = `${manager} has set ${container} to ${to}: its original limit from now on ` +
      `(was ${from})`;
    emitEvent(pod, { type: "Normal", reason: "OriginalLimitChanged", message }, context);
  }
  const quota = cfsQuotaEvent(snapshot);
  if (quota !== undefined) emitEvent(pod, quota, context);
}

/**
 * One event when the kernel stops enforcing the limit and one when it enforces it again. The kubelet's
 * configuration mostly causes this for all pods of a node: then the event is on the node.
 */
function cfsQuotaEvent(
  { allocation, memory, scope, node }: ReconcileSnapshot,
): EventText | undefined {
  const reason = allocation.spec.market?.reason;
  // Other reasons may come between these two: those of another container of the pod.
  if (scope !== undefined || (reason !== "QuotaOff" && reason !== "QuotaBack")) return undefined;
  const off = reason === "QuotaOff";
  if (off === memory.isQuotaOffReported) return undefined;
  memory.isQuotaOffReported = off;
  return {
    key: reason,
    message: `${reason}: ${MARKET_REASONS[reason].means}`,
    ...(node === undefined ? {} : { about: eventSubject("Node", node) }),
    ...(off
      ? { type: "Warning", reason: "CPULimitHeld" }
      : { type: "Normal", reason: "CPULimitApplied" }),
  };
}

/** Reports new bounds: on the pod, or on the node or workload where they apply to all its pods. */
export function reportBounds(
  { pod, node, workload }: Pick<PodSnapshot, "pod" | "node" | "workload">,
  rules: readonly KnownRule[],
  { events }: Pick<ReconcileContext, "events">,
): void {
  const subjectOf = (reason: BoundReason): EventSubject | undefined => {
    const { about }: Reason = BOUND_REASONS[reason];
    if (about === "node") return node && eventSubject("Node", node);
    return about && workload && eventSubject(workload.kind, workload);
  };
  const reported = rules.filter(({ reason }) => !isQuiet(BOUND_REASONS[reason]));
  for (const all of Map.groupBy(reported, ({ reason }) => subjectOf(reason)?.kind).values()) {
    const about = all[0] && subjectOf(all[0].reason);
    emitEvent(pod, {
      type: all.some(({ reason }) => reason === "UnreadableBound") ? "Warning" : "Normal",
      reason: "CPULimitBounded",
      key: [...new Set(all.map(({ reason }) => reason))].join(),
      message: all.map(({ reason, message }) => `${reason}: ${message}`).join("; "),
      ...(about === undefined ? {} : { about }),
    }, { events });
  }
}

/** Reports ineffective annotations once; shared ones on the object that carries them. */
export function reportWarnings(
  { pod, memory }: { readonly pod: Pod; readonly memory: PodMemory },
  warnings: readonly AnnotationWarning[],
  { events }: Pick<ReconcileContext, "events">,
): void {
  const own = warnings.filter(({ about }) => about === undefined);
  const shared = warnings.filter(({ about }) => about !== undefined);
  const event = { type: "Warning", reason: "AnnotationIgnored" } as const;
  const message = own.map((one) => one.message).join("; ");
  if (message === "") events.withdraw(pod.metadata.uid, "AnnotationIgnored");
  else if (message !== memory.lastWarnings) emitEvent(pod, { ...event, message }, { events });
  memory.lastWarnings = message;
  const reported = shared.map((one) => one.message).join("; ");
  if (reported === memory.lastSharedWarnings) return;
  memory.lastSharedWarnings = reported;
  // Each has its own key: a pod may carry the annotation that another pod lacks.
  for (const one of shared) emitEvent(pod, { ...event, key: one.message, ...one }, { events });
}

/** The event for the status that follows a decision; undefined when nothing has changed. */
export function statusEvent(
  { spec, status: before }: PodAllocation,
  { decision: { reason, message = "" }, status }: {
    readonly decision: Decision;
    readonly status: PodAllocationStatus;
  },
): EventText | undefined {
  const type = status.phase === "Failed" ? "Warning" : "Normal";
  if (reason === "Restored") return { type, reason: "CPULimitsRestored", message };
  if (reason === undefined || isQuiet(ENFORCEMENT_REASONS[reason])) return undefined;
  if (reason !== "Applied") {
    return { type, reason: "CPULimitHeld", key: reason, message: `${reason}: ${message}` };
  }
  // At first the original limit of the whole pod.
  const from = before?.appliedCPULimit ??
    formatCPU(sumCPU(originalValues(before?.originalLimits).values()));
  const to = status.appliedCPULimit ?? "unknown";
  if (from === to) return undefined;
  return { type, reason: "CPULimitApplied", message: `${from} → ${to} (${marketCause(spec)})` };
}

/** One event for all pods of the namespace: each of them waits for the same rate. */
export function bottleneckEvent(
  { namespace }: Pick<PodSnapshot, "namespace">,
  { resizeQueue, config }: {
    readonly resizeQueue: Pick<FairQueue, "waiting">;
    readonly config: Pick<MarketConfig, "maxResizesPerSecond">;
  },
): EventText {
  return {
    type: "Warning",
    reason: "CPULimitHeld",
    key: "RateLimited",
    message: `RateLimited: ${resizeQueue.waiting} resizes wait, more than ` +
      `controller.maxResizesPerSecond, ${config.maxResizesPerSecond}, lets through soon: the most ` +
      "urgent go first, and small decreases are put off",
    ...(namespace === undefined ? {} : { about: eventSubject("Namespace", namespace) }),
  };
}

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

/** True for reasons that cause no event. */
export function isQuiet({ quiet }: Reason): boolean {
  return quiet === true;
}

/** An event that a pod causes; `about` is absent where it is about the pod itself. */
export type EventText = Omit<GatedEvent, "about" | "pod"> & { readonly about?: EventSubject };

/** Emits an event about the pod, or about an object that it shares with other pods. */
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

/** Reports limits that another field manager has set, and whether the kernel enforces the CFS quota. */
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
 * One event when the kernel stops enforcing the limit and one when it enforces it again. Mostly the
 * kubelet's configuration is the cause, for all pods of the node, so that the event is about the node.
 */
function cfsQuotaEvent(
  { allocation, memory, scope, node }: ReconcileSnapshot,
): EventText | undefined {
  const reason = allocation.spec.market?.reason;
  // Reasons of the pod's other containers may come between these two.
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

/** Reports new bounds, about the node or workload where they apply to all its pods. */
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

/** Reports ineffective labels and annotations once, about the object that carries them. */
export function reportWarnings(
  { pod, memory }: { readonly pod: Pod; readonly memory: PodMemory },
  warnings: readonly AnnotationWarning[],
  { events }: Pick<ReconcileContext, "events">,
): void {
  const ofPod = warnings.filter(({ about }) => about === undefined);
  const shared = warnings.filter(({ about }) => about !== undefined);
  const event = { type: "Warning", reason: "AnnotationIgnored" } as const;
  const message = ofPod.map((warning) => warning.message).join("; ");
  if (message === "") events.withdraw(pod.metadata.uid, "AnnotationIgnored");
  else if (message !== memory.lastWarnings) emitEvent(pod, { ...event, message }, { events });
  memory.lastWarnings = message;
  const sharedMessage = shared.map((warning) => warning.message).join("; ");
  if (sharedMessage === memory.lastSharedWarnings) return;
  memory.lastSharedWarnings = sharedMessage;
  // Each has its own key: whether a key of the namespace has an effect may differ from pod to pod.
  for (const warning of shared) {
    emitEvent(pod, { ...event, key: warning.message, ...warning }, { events });
  }
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
  // Before the first applied limit: the sum of the original ones.
  const from = before?.appliedCPULimit ??
    formatCPU(sumCPU(originalValues(before?.originalLimits).values()));
  const to = status.appliedCPULimit ?? "unknown";
  if (from === to) return undefined;
  return { type, reason: "CPULimitApplied", message: `${from} → ${to} (${marketCause(spec)})` };
}

/** One event about the namespace, since all its pods wait for the same rate. */
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

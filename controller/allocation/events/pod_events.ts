/**
 * Events that reconciling a pod emits, beside those about its limits.
 *
 * @module
 */
import type { Node } from "../../../shared/api/node.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import type { PodAllocation } from "../../../shared/api/pod_allocation.ts";
import type { BoundReason } from "../../../shared/api/reasons/bound_reasons.ts";
import { MARKET_REASONS } from "../../../shared/api/reasons/market_reasons.ts";
import type { Log } from "../../../shared/log.ts";
import type { KnownRule } from "../bounds/bound_rules.ts";
import type { EventGate, GatedEvent } from "./event_gate.ts";
import type { PodSnapshot } from "../pod_snapshot.ts";
import type { FoundOriginals } from "../original_limits.ts";
import type { OutOfScope } from "../../../shared/resize/scope.ts";
import type { PodMemory } from "../pod_memory.ts";
import type { SharedSubject } from "../ports.ts";
import { type AnnotationWarning, workloadSubject } from "../bounds/annotation_warning.ts";
import type { EventText } from "./status_event.ts";

/** Emits events about a pod. */
export interface PodEvents {
  /** Reports limits that another field manager has set, and limits that the kernel does not enforce. */
  reportOthers(known: ReportedPod): void;
  /** Reports new bounds: on the pod, or on the node or workload where they apply to all its pods. */
  reportBounds(
    facts: Pick<PodSnapshot, "pod" | "node" | "workload">,
    rules: readonly KnownRule[],
  ): void;
  /** Reports ineffective annotations once; shared ones on the object that carries them. */
  warn(
    { pod, memory }: { readonly pod: Pod; readonly memory: PodMemory },
    warnings: readonly AnnotationWarning[],
  ): void;
  /** One event on the pod. */
  emit(pod: Pod, event: Omit<GatedEvent, "namespace" | "podName" | "podUID">): void;
}

/** Bounds without an event: usual ones, and those that concern many pods at once. */
export const QUIET_BOUNDS: ReadonlySet<BoundReason> = new Set([
  "BurstFactor",
  "NodeSize",
  "WeightMultiplied",
  "PodNotReady",
  // An unavailable metrics server would cause an event on each pod.
  "MetricMissing",
]);

/** Bounds of all pods of a node: one event on the node. */
export const NODE_BOUNDS: ReadonlySet<BoundReason> = new Set([
  "NodeNotReady",
  "NodeDraining",
  "NodeCordoned",
]);

/** Bounds of all pods of a workload: one event on the workload. */
export const WORKLOAD_BOUNDS: ReadonlySet<BoundReason> = new Set([
  "RolloutInProgress",
  "HPAFloor",
  "HPADamped",
  "HPAScaled",
]);

/** Facts about a pod that other clients change, too. */
export interface ReportedPod extends Pick<PodSnapshot, "pod" | "node"> {
  readonly allocation: Pick<PodAllocation, "spec">;
  readonly memory: PodMemory;
  /** Why the pod takes no part; undefined when it does. */
  readonly scope: OutOfScope | undefined;
  readonly found: Pick<FoundOriginals, "foreign">;
}

/**
 * One event when the kernel stops enforcing the limit and one when it enforces it again. The kubelet's
 * configuration mostly causes this for all pods of a node: then the event is on the node.
 */
function quotaEvent({ allocation, memory, scope, node }: ReportedPod):
  | EventText & {
    readonly type: GatedEvent["type"];
    readonly about?: SharedSubject;
  }
  | undefined {
  const reason = allocation.spec.market?.reason;
  // Other reasons may come between these two: those of another container of the pod.
  if (scope !== undefined || (reason !== "QuotaOff" && reason !== "QuotaBack")) return undefined;
  const off = reason === "QuotaOff";
  if (off === (memory.isQuotaOffReported ?? false)) return undefined;
  memory.isQuotaOffReported = off;
  const event = {
    key: reason,
    message: `${reason}: ${MARKET_REASONS[reason].means}`,
    ...(node === undefined ? {} : { about: nodeSubject(node) }),
  };
  return off
    ? { ...event, type: "Warning", reason: "CPULimitHeld" }
    : { ...event, type: "Normal", reason: "CPULimitApplied" };
}

/** The node or workload that the event of a bound is about; undefined: the pod itself. */
function subjectOf(
  reason: BoundReason,
  { node, workload }: Pick<PodSnapshot, "node" | "workload">,
): SharedSubject | undefined {
  if (NODE_BOUNDS.has(reason) && node !== undefined) return nodeSubject(node);
  if (!WORKLOAD_BOUNDS.has(reason) || workload === undefined) return undefined;
  return workloadSubject(workload);
}

function nodeSubject({ metadata: { name, uid } }: Node): SharedSubject {
  return { apiVersion: "v1", kind: "Node", name, uid };
}

/** Makes one that emits to this gate and this log. */
export function createPodEvents(
  { events, log }: { readonly events: EventGate; readonly log: Log },
): PodEvents {
  const emit: PodEvents["emit"] = ({ metadata }, event) => {
    const { namespace, name: podName, uid: podUID } = metadata;
    events.emit({ namespace, podName, podUID, ...event });
  };
  return {
    emit,
    reportOthers(known) {
      const { pod, found } = known;
      const { namespace, name } = pod.metadata;
      for (const { container, from = "none", to, manager } of found.foreign) {
        log.info("Original limit changed", {
          pod: `${namespace}/${name}`,
          container,
          from,
          to,
          manager,
        });
        const message =
          `${manager} has set ${container} to ${to}: its original limit from now on ` +
          `(was ${from})`;
        emit(pod, { type: "Normal", reason: "OriginalLimitChanged", message });
      }
      const quota = quotaEvent(known);
      if (quota !== undefined) emit(pod, quota);
    },
    reportBounds(facts, rules) {
      const reported = rules.filter(({ reason }) => !QUIET_BOUNDS.has(reason));
      const bySubject = Map.groupBy(reported, ({ reason }) => subjectOf(reason, facts)?.kind);
      for (const [first, ...others] of bySubject.values()) {
        if (first === undefined) continue;
        const about = subjectOf(first.reason, facts);
        const all = [first, ...others];
        emit(facts.pod, {
          type: all.some(({ reason }) => reason === "UnreadableBound") ? "Warning" : "Normal",
          reason: "CPULimitBounded",
          key: [...new Set(all.map(({ reason }) => reason))].join(),
          message: all.map(({ reason, message }) => `${reason}: ${message}`).join("; "),
          ...(about === undefined ? {} : { about }),
        });
      }
    },
    warn({ pod, memory }, warnings) {
      const message = warnings.filter((one) => typeof one === "string").join("; ");
      if (message === "") events.withdraw(pod.metadata.uid, "AnnotationIgnored");
      else if (message !== memory.warned) {
        emit(pod, { type: "Warning", reason: "AnnotationIgnored", message });
      }
      memory.warned = message;
      const shared = warnings.filter((one) => typeof one !== "string");
      const reported = shared.map((one) => one.message).join("; ");
      if (reported === (memory.sharedWarned ?? "")) return;
      memory.sharedWarned = reported;
      // Each has its own key: a pod may carry the annotation that another pod lacks.
      for (const one of shared) {
        emit(pod, { type: "Warning", reason: "AnnotationIgnored", key: one.message, ...one });
      }
    },
  };
}

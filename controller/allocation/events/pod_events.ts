/**
 * What a look at a pod tells the pod's event stream, beside what became of its limits.
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
import type { Gathered } from "../gather.ts";
import type { PodCase } from "../pod_case.ts";
import type { PodMemory } from "../pod_memory.ts";
import type { SharedSubject } from "../ports.ts";
import { type AnnotationWarning, workloadSubject } from "./annotation_warning.ts";
import type { EventText } from "./status_event.ts";

/** What is told, of a pod that the caller names. */
export interface PodEvents {
  /** What others do to the limits: who has set them, and that the kernel does not enforce them. */
  reportOthers(news: ReportedCase): void;
  /** Bounds that did not hold before: on the pod, or where they hold for all pods of it. */
  reportBounds(
    facts: Pick<Gathered, "pod" | "node" | "workload">,
    rules: readonly KnownRule[],
  ): void;
  /** Annotations that don't count; the same ones only once, of shared words where those stand. */
  warn(
    { pod, memory }: { readonly pod: Pod; readonly memory: PodMemory },
    warnings: readonly AnnotationWarning[],
  ): void;
  /** One event on the pod. */
  emit(pod: Pod, event: Omit<GatedEvent, "namespace" | "podName" | "podUID">): void;
}

/** What every pod has in its life is no event; nor is what concerns many at once. */
export const QUIET_BOUNDS: ReadonlySet<BoundReason> = new Set([
  "BurstFactor",
  "NodeSize",
  "WeightMultiplied",
  "PodNotReady",
  // A metrics server that is away would tell all pods so.
  "MetricMissing",
]);

/** What holds for all pods of a node: one event on the node. */
export const NODE_BOUNDS: ReadonlySet<BoundReason> = new Set([
  "NodeNotReady",
  "NodeDraining",
  "NodeCordoned",
]);

/** What holds for all pods of a workload: one event on the workload. */
export const WORKLOAD_BOUNDS: ReadonlySet<BoundReason> = new Set([
  "RolloutInProgress",
  "HPAFloor",
  "HPADamped",
  "HPAScaled",
]);

/** What is known of a pod that others work on, too. */
export interface ReportedCase extends Pick<PodCase, "pod" | "node" | "own" | "memory" | "scope"> {
  readonly allocation: Pick<PodAllocation, "spec">;
}

/**
 * That the kernel does not enforce the limit, once, and then once that it does again. It is mostly so
 * for all pods of a node, by the kubelet's configuration: then the node tells it.
 */
function quotaEvent({ allocation, memory, scope, node }: ReportedCase):
  | EventText & {
    readonly type: GatedEvent["type"];
    readonly about?: SharedSubject;
  }
  | undefined {
  const reason = allocation.spec.market?.reason;
  // Other words may stand between these two: of another container of the pod.
  if (scope !== undefined || (reason !== "QuotaOff" && reason !== "QuotaBack")) return undefined;
  const off = reason === "QuotaOff";
  if (off === (memory.isQuotaOffReported ?? false)) return undefined;
  memory.isQuotaOffReported = off;
  const said = {
    word: reason,
    message: `${reason}: ${MARKET_REASONS[reason].means}`,
    ...(node === undefined ? {} : { about: nodeSubject(node) }),
  };
  return off
    ? { ...said, type: "Warning", reason: "CPULimitHeld" }
    : { ...said, type: "Normal", reason: "CPULimitApplied" };
}

/** The node or workload that a bound is told of; undefined: the pod itself. */
function subjectOf(
  reason: BoundReason,
  { node, workload }: Pick<Gathered, "node" | "workload">,
): SharedSubject | undefined {
  if (NODE_BOUNDS.has(reason) && node !== undefined) return nodeSubject(node);
  if (!WORKLOAD_BOUNDS.has(reason) || workload === undefined) return undefined;
  return workloadSubject(workload);
}

function nodeSubject({ metadata: { name, uid } }: Node): SharedSubject {
  return { apiVersion: "v1", kind: "Node", name, uid };
}

/** Tells it to this gate and this log. */
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
      const { pod, own } = known;
      const { namespace, name } = pod.metadata;
      for (const { container, from = "none", to, manager } of own.foreign) {
        log.info("Own limit changed", {
          pod: `${namespace}/${name}`,
          container,
          from,
          to,
          manager,
        });
        const message = `${manager} has set ${container} to ${to}: its own limit from now on ` +
          `(was ${from})`;
        emit(pod, { type: "Normal", reason: "OwnLimitChanged", message });
      }
      const quota = quotaEvent(known);
      if (quota !== undefined) emit(pod, quota);
    },
    reportBounds(facts, rules) {
      const told = rules.filter(({ reason }) => !QUIET_BOUNDS.has(reason));
      const bySubject = Map.groupBy(told, ({ reason }) => subjectOf(reason, facts)?.kind);
      for (const [first, ...others] of bySubject.values()) {
        if (first === undefined) continue;
        const about = subjectOf(first.reason, facts);
        const all = [first, ...others];
        emit(facts.pod, {
          type: all.some(({ reason }) => reason === "UnreadableBound") ? "Warning" : "Normal",
          reason: "CPULimitBounded",
          word: [...new Set(all.map(({ reason }) => reason))].join(),
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
      const told = shared.map((one) => one.message).join("; ");
      if (told === (memory.sharedWarned ?? "")) return;
      memory.sharedWarned = told;
      // Each a word of its own: one pod's words may make up for what others lack.
      for (const one of shared) {
        emit(pod, { type: "Warning", reason: "AnnotationIgnored", word: one.message, ...one });
      }
    },
  };
}

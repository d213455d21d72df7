/**
 * What a look at a pod tells the pod's event stream, beside what became of its limits.
 *
 * @module
 */
import type { Pod } from "../../shared/api/pod.ts";
import type { BoundReason } from "../../shared/api/reasons/bound_reasons.ts";
import type { Log } from "../../shared/log.ts";
import type { BoundWord } from "./bound_words.ts";
import type { EventGate, GatedEvent } from "./event_gate.ts";
import type { Gathered } from "./gather.ts";
import type { PodMemory } from "./pod_memory.ts";
import type { SharedSubject } from "./ports.ts";
import type { OwnLimits } from "./settle_own_limits.ts";

/** What is told, of a pod that the caller names. */
export interface PodNews {
  /** Limits that others have set. */
  tellForeign(news: { readonly pod: Pod; readonly own: OwnLimits }): void;
  /** Bounds that did not hold before: on the pod, or where they hold for all pods of it. */
  tellBounds(
    facts: Pick<Gathered, "pod" | "node" | "workload">,
    rules: readonly BoundWord[],
  ): void;
  /** Annotations that don't count; the same ones only once. */
  warn(
    { pod, memory }: { readonly pod: Pod; readonly memory: PodMemory },
    warnings: readonly string[],
  ): void;
  /** One event on the pod. */
  emit(pod: Pod, event: Omit<GatedEvent, "namespace" | "podName" | "podUID">): void;
}

/** What every pod has in its life is no event; nor is what concerns many at once. */
export const QUIET_BOUNDS: ReadonlySet<BoundReason> = new Set([
  "BurstFactor",
  "NodeSize",
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

/** The node or workload that a bound is told of; undefined: the pod itself. */
function subjectOf(
  reason: BoundReason,
  { node, workload }: Pick<Gathered, "node" | "workload">,
): SharedSubject | undefined {
  if (NODE_BOUNDS.has(reason) && node !== undefined) {
    return { apiVersion: "v1", kind: "Node", name: node.metadata.name, uid: node.metadata.uid };
  }
  if (!WORKLOAD_BOUNDS.has(reason) || workload === undefined) return undefined;
  const { kind, metadata: { name, uid } } = workload;
  return { apiVersion: "apps/v1", kind, name, uid };
}

/** Tells it to this gate and this log. */
export function createPodNews(
  { events, log }: { readonly events: EventGate; readonly log: Log },
): PodNews {
  const emit: PodNews["emit"] = ({ metadata }, event) => {
    const { namespace, name: podName, uid: podUID } = metadata;
    events.emit({ namespace, podName, podUID, ...event });
  };
  return {
    emit,
    tellForeign({ pod, own }) {
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
    },
    tellBounds(facts, rules) {
      const told = rules.filter(({ reason }) => !QUIET_BOUNDS.has(reason));
      const bySubject = Map.groupBy(told, ({ reason }) => subjectOf(reason, facts)?.kind);
      for (const [first, ...others] of bySubject.values()) {
        if (first === undefined) continue;
        const about = subjectOf(first.reason, facts);
        const all = [first, ...others];
        emit(facts.pod, {
          type: "Normal",
          reason: "CPULimitBounded",
          word: [...new Set(all.map(({ reason }) => reason))].join(),
          message: all.map(({ reason, message }) => `${reason}: ${message}`).join("; "),
          ...(about === undefined ? {} : { about }),
        });
      }
    },
    warn({ pod, memory }, warnings) {
      const message = warnings.join("; ");
      if (message === "") events.withdraw(pod.metadata.uid, "AnnotationIgnored");
      else if (message !== memory.warned) {
        emit(pod, { type: "Warning", reason: "AnnotationIgnored", message });
      }
      memory.warned = message;
    },
  };
}

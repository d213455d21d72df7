/**
 * What a look at a pod tells the pod's event stream, beside what became of its limits.
 *
 * @module
 */
import type { Pod } from "../../shared/api/pod.ts";
import type { BoundReason } from "../../shared/api/reasons/bound_reasons.ts";
import type { Log } from "../../shared/log.ts";
import type { BoundWord } from "./bound_words.ts";
import type { PodMemory } from "./pod_memory.ts";
import type { EventSink, PodEvent } from "./ports.ts";
import type { OwnLimits } from "./settle_own_limits.ts";

/** What is told, of a pod that the caller names. */
export interface PodNews {
  /** Limits that others have set. */
  tellForeign(news: { readonly pod: Pod; readonly own: OwnLimits }): void;
  /** Bounds that did not hold before. */
  tellBounds(pod: Pod, rules: readonly BoundWord[]): void;
  /** Annotations that don't count; the same ones only once. */
  warn(
    { pod, memory }: { readonly pod: Pod; readonly memory: PodMemory },
    warnings: readonly string[],
  ): void;
  /** One event on the pod. */
  emit(pod: Pod, event: Pick<PodEvent, "type" | "reason" | "message">): void;
}

/** What every pod has in its life is no event; nor is what concerns many at once. */
export const QUIET_BOUNDS: ReadonlySet<BoundReason> = new Set([
  "BurstFactor",
  "NodeSize",
  "PodNotReady",
  // A metrics server that is away would tell all pods so.
  "MetricMissing",
]);

/** Tells it to this sink and this log. */
export function createPodNews(
  { events, log }: { readonly events: EventSink; readonly log: Log },
): PodNews {
  function emit(
    { metadata }: Pod,
    event: Pick<PodEvent, "type" | "reason" | "message">,
  ): void {
    const { namespace, name: podName, uid: podUID } = metadata;
    events.emit({ namespace, podName, podUID, ...event });
  }
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
    tellBounds(pod, rules) {
      const told = rules.filter(({ reason }) => !QUIET_BOUNDS.has(reason));
      if (told.length === 0) return;
      const message = told.map((rule) => `${rule.reason}: ${rule.message}`).join("; ");
      emit(pod, { type: "Normal", reason: "CPULimitBounded", message });
    },
    warn({ pod, memory }, warnings) {
      const message = warnings.join("; ");
      if (message !== "" && message !== memory.warned) {
        emit(pod, { type: "Warning", reason: "AnnotationIgnored", message });
      }
      memory.warned = message;
    },
  };
}

/**
 * Subjects of the market's events, and what observes its loop.
 *
 * @module
 */
import type { ApiObject } from "../../shared/api/object.ts";
import type { EventSubject } from "../../shared/api/ports.ts";
import { defined } from "../../shared/defined.ts";
import type { MetricOutcome } from "../metrics_demand/metric_answer.ts";
import type { EnforcementReason } from "../../shared/api/reasons/enforcement_reasons.ts";
import type { WorkloadKind } from "../../shared/api/workload.ts";
import type { ResizeObserver } from "../resize/send_changes.ts";
import type { FairQueue } from "./queues/fair_queue.ts";
import type { AgentsVerdict } from "./watches/silent_agents.ts";

/** The reference to the object that an event is about. */
export function eventSubject(
  kind: "Node" | "Namespace" | "HorizontalPodAutoscaler" | WorkloadKind,
  { metadata: { namespace, name, uid } }: ApiObject,
): EventSubject {
  return defined({
    apiVersion: API_VERSIONS[kind] ?? "apps/v1",
    kind,
    namespace: kind === "Namespace" ? name : namespace,
    name,
    uid,
  });
}

const API_VERSIONS: Readonly<Record<string, string>> = {
  Node: "v1",
  Namespace: "v1",
  HorizontalPodAutoscaler: "autoscaling/v2",
};

/** A warning about a label or annotation without effect. */
export interface AnnotationWarning {
  readonly message: string;
  /** The object that carries it, where that is not the pod. */
  readonly about?: EventSubject;
}

/** Observes the loop, for metrics. Each method is called synchronously and must be quick. */
export interface AllocationObserver extends ResizeObserver {
  agents?(verdict: AgentsVerdict): void;
  /** A pod that left the market has its original limits back. */
  released?(cause: EnforcementReason): void;
  /** A status was written with the reason why limits do not change. */
  held?(reason: EnforcementReason): void;
  /** Pods in the work queue, and pods that will be added to it later. */
  queue?(depth: number, delayed: number): void;
  /** Resizes that wait for their turns; called at each check of the agents. */
  resizeQueue?(queue: Pick<FairQueue, "waiting" | "dropped" | "isBottleneck">): void;
  metricAnswered?(outcome: MetricOutcome): void;
  /** One reconcile took this long. */
  reconciled?(tookMs: number): void;
}

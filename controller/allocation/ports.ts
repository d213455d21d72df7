/**
 * What the allocation controller needs from the API, beside list-watch.
 *
 * @module
 */
import type { ApiObject } from "../../shared/api/object.ts";
import type { Pod } from "../../shared/api/pod.ts";
import type { MetricOutcome } from "../metrics_demand/metric_fact.ts";
import type {
  EnforcementReason,
  EventReason,
} from "../../shared/api/reasons/enforcement_reasons.ts";
import type { WorkloadKind } from "../../shared/api/workload.ts";
import type { ResizeObserver } from "../resize/send_changes.ts";
import type { FairQueue } from "./pace/fair_queue.ts";
import type { AgentsVerdict } from "./watches/silent_agents.ts";

/** Reads a pod's template, where the pod itself no longer has the values. */
export interface OwnerTemplates {
  /**
   * CPU limits, millicores by container name (sidecars too), of the template that the pod was made
   * from: a ReplicaSet's or Job's, or that of the revision of a StatefulSet or DaemonSet. Undefined
   * when the pod has no such owner, or it can't be read. Throws an `ApiError` when the server can't
   * be reached.
   */
  limitsOf(pod: Pod): Promise<ReadonlyMap<string, number> | undefined>;
}

/** What an event is about that many pods share. */
export interface SharedSubject {
  /** For instance `apps/v1`. */
  readonly apiVersion: string;
  readonly kind: "Node" | "Namespace" | "HorizontalPodAutoscaler" | WorkloadKind;
  /** In the pod's namespace, but for nodes; a namespace is its own. */
  readonly name: string;
  readonly uid: string;
}

/** The object as events name it. */
export function sharedSubject(
  kind: SharedSubject["kind"],
  { metadata: { name, uid } }: ApiObject,
): SharedSubject {
  return { apiVersion: API_VERSIONS[kind] ?? "apps/v1", kind, name, uid };
}

const API_VERSIONS: Readonly<Record<string, string>> = {
  Node: "v1",
  Namespace: "v1",
  HorizontalPodAutoscaler: "autoscaling/v2",
};

/** A label or annotation that has no effect: on the pod, or on an object that many pods share. */
export interface AnnotationWarning {
  readonly message: string;
  /** One event on the object that carries it. */
  readonly about?: SharedSubject;
}

/** A message on the pod's event stream. */
export interface PodEvent {
  readonly namespace: string;
  readonly podName: string;
  readonly podUID: string;
  readonly type: "Normal" | "Warning";
  readonly reason: EventReason;
  readonly message: string;
  /**
   * The object that the event is about instead, where it concerns all its pods; the pod is one of them.
   */
  readonly about?: SharedSubject;
}

/** Where events go. A lost event is no error. */
export interface EventSink {
  emit(event: PodEvent): void;
}

/** Observes the loop, for metrics. Each method is called synchronously and must be quick. */
export interface AllocationObserver extends ResizeObserver {
  /** The agents' Leases were checked. */
  agents?(verdict: AgentsVerdict): void;
  /** A pod that left the market has its original limits back. */
  released?(cause: EnforcementReason): void;
  /** A status was written that says why nothing is done. */
  held?(reason: EnforcementReason): void;
  /** Queued pods, and pods that are due later. */
  queue?(depth: number, delayed: number): void;
  /** Resizes that wait for their turns, now and then. */
  resizeQueue?(queue: Pick<FairQueue, "waiting" | "dropped" | "isBottleneck">): void;
  /** A metric query was asked. */
  metricAnswered?(outcome: MetricOutcome): void;
  /** One look at a pod took this long, ms. */
  reconciled?(tookMs: number): void;
}

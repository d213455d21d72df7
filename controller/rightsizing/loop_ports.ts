/**
 * What the loop of rightsizing does to workloads, and where its events go.
 *
 * @module
 */
import type { RightsizingEventReason } from "../../shared/api/reasons/rightsizing_event_reasons.ts";
import type { WantedResources } from "../../shared/resize/inputs/resources.ts";
import type { AnnotationPatch } from "../../shared/rightsizing/apply/workload_annotations.ts";
import type { RightsizedWorkload } from "../../shared/rightsizing/guards/rightsizing_facts.ts";

/** Changes workloads. Each call throws an `ApiError` when the server refuses. */
export interface WorkloadWriter {
  /** Sets the template's values for all containers at once: one rollout. */
  recreate(
    workload: RightsizedWorkload,
    wanted: WantedResources,
    options: { readonly serverSideApply: boolean },
  ): Promise<void>;
  /** Changes the annotations, if the workload is still this one. */
  annotate(
    workload: Pick<RightsizedWorkload, "kind" | "metadata">,
    patch: AnnotationPatch,
  ): Promise<void>;
}

/** What an event is about. */
export interface EventSubject {
  /** For instance `apps/v1`. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** A message on the event stream of a policy or a workload. */
export interface RightsizingEvent {
  readonly about: EventSubject;
  readonly type: "Normal" | "Warning";
  readonly reason: RightsizingEventReason;
  readonly message: string;
}

/** Where events go. A lost event is no error. */
export interface RightsizingEvents {
  emit(event: RightsizingEvent): void;
}

/**
 * What the loop of rightsizing does to the outside. Each method throws an `ApiError` when the server
 * refuses.
 *
 * @module
 */
import type { PolicyStatus } from "../../shared/api/policy_status.ts";
import type { RecommendationReport } from "../../shared/api/recommendation_report.ts";
import type { RightsizingEventReason } from "../../shared/api/reasons/rightsizing_event_reasons.ts";
import type { AnnotationPatch } from "../../shared/actuation/methods/workload_annotations.ts";
import type { RightsizedWorkload } from "../../shared/rightsizing/guards/rightsizing_facts.ts";
import type { WantedResources } from "../../shared/rightsizing/guards/wanted_resources.ts";
import type { ReportPart } from "../../shared/rightsizing/report_parts.ts";
import type { StoredPolicy } from "../../shared/rightsizing/stored_policy.ts";

/** Writes what became of policies. */
export interface PolicyStatusWriter {
  /** Resolves with the resourceVersion that has it; 409 when the policy's is not the stored one. */
  writeStatus(policy: Pick<StoredPolicy, "metadata">, status: PolicyStatus): Promise<string>;
}

/** A report that is about to be written. */
export interface ReportToWrite extends ReportPart {
  readonly namespace: string;
}

/** Writes reports. */
export interface ReportStore {
  /** Makes the report, or replaces what it tells. */
  apply(report: ReportToWrite): Promise<RecommendationReport>;
  /** Deletes the report if its UID is still this one. */
  remove(report: Pick<RecommendationReport, "metadata">): Promise<void>;
}

/** Changes workloads. */
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

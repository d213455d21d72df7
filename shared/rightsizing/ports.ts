/**
 * Ports by which rightsizing writes to the API server. Each call throws an `ApiError`.
 *
 * @module
 */
import type { PolicyStatus } from "../api/policy_status.ts";
import type { RecommendationReport } from "../api/recommendation_report.ts";
import type { WantedResources } from "../resize/inputs/resources.ts";
import type { RightsizedWorkload } from "./guards/rightsizing_snapshot.ts";
import type { StoredPolicy } from "./policy_spec.ts";
import type { PublishedVPA } from "./published_vpa.ts";
import type { ReportPart } from "./reports.ts";
import type { AnnotationPatch } from "./workload_annotations.ts";

/** How a template is written. */
export interface RecreateOptions {
  readonly serverSideApply: boolean;
  /** The request's ID in the server's audit log. @default {the server's choice} */
  readonly auditID?: string | undefined;
}

/** Changes templates and annotations of workloads. */
export interface WorkloadWriter {
  recreate(
    workload: RightsizedWorkload,
    wanted: WantedResources,
    options: RecreateOptions,
  ): Promise<void>;
  annotate(
    workload: Pick<RightsizedWorkload, "kind" | "metadata">,
    patch: AnnotationPatch,
  ): Promise<void>;
}

/** Writes the status of policies. */
export interface PolicyStatusWriter {
  /** Resolves with the policy's new resourceVersion. */
  writeStatus(policy: Pick<StoredPolicy, "metadata">, status: PolicyStatus): Promise<string>;
}

/** A report to write. */
export interface NewReport extends ReportPart {
  readonly namespace: string;
  /** The version to replace; absent for a new report. */
  readonly resourceVersion?: string;
}

/** Reads and writes reports. */
export interface ReportStore {
  list(namespace: string): Promise<readonly RecommendationReport[]>;
  apply(report: NewReport): Promise<RecommendationReport>;
  remove(report: Pick<RecommendationReport, "metadata">): Promise<void>;
}

/** Writes VPAs with recommendations. */
export interface VPAPublisher {
  /** Resolves with the UID. */
  create(vpa: PublishedVPA): Promise<string>;
  recommend(vpa: PublishedVPA, uid: string): Promise<void>;
  remove(
    vpa: { readonly namespace: string; readonly name: string; readonly uid: string },
  ): Promise<void>;
}

/**
 * What rightsizing writes of policies and their workloads.
 *
 * @module
 */
import type { PolicyStatus } from "../../shared/api/policy_status.ts";
import type { RecommendationReport } from "../../shared/api/recommendation_report.ts";
import type { PublishedVPA } from "../../shared/rightsizing/apply/published_vpa.ts";
import type { ReportPart } from "../../shared/rightsizing/report_parts.ts";
import type { StoredPolicy } from "../../shared/rightsizing/stored_policy.ts";

/** Writes what became of policies. */
export interface PolicyStatusWriter {
  /**
   * Replaces the status, and resolves with the resourceVersion that has it. Throws an `ApiError`; 409
   * `Conflict` when `resourceVersion` is not the stored one, 404 when the policy is gone.
   */
  writeStatus(policy: Pick<StoredPolicy, "metadata">, status: PolicyStatus): Promise<string>;
}

/** A report that is about to be written. */
export interface NewReport extends ReportPart {
  readonly namespace: string;
  /** The version that is replaced. Absent: there is none yet. */
  readonly resourceVersion?: string;
}

/** Writes reports. Each call throws an `ApiError` when the server refuses. */
export interface ReportStore {
  /** All of the namespace, as the server has them now. */
  list(namespace: string): Promise<readonly RecommendationReport[]>;
  /**
   * Makes the report, or replaces what its version tells, and returns it as stored. 409 `AlreadyExists`
   * where there is one already, and `Conflict` where the version is not the stored one.
   */
  apply(report: NewReport): Promise<RecommendationReport>;
  /** Deletes the report if its UID and its version are still these, else 409; 404 when it is gone. */
  remove(report: Pick<RecommendationReport, "metadata">): Promise<void>;
}

/** Writes VPAs that tell recommendations. Each call throws an `ApiError` when the server refuses. */
export interface VPAPublisher {
  /**
   * Makes the VPA, which recommends nothing yet, and resolves with its UID. 404 where nobody has defined
   * the kind, 409 where there is one of the name.
   */
  create(vpa: PublishedVPA): Promise<string>;
  /** Replaces what the VPA recommends, if its UID is still this one. */
  recommend(vpa: PublishedVPA, uid: string): Promise<void>;
  /** Deletes the VPA if its UID is still this one; 404 when it is gone. */
  remove(
    vpa: { readonly namespace: string; readonly name: string; readonly uid: string },
  ): Promise<void>;
}

/**
 * The content of `recommend`, which its JSON and YAML have, and its texts show. CPU in millicores, memory in
 * bytes.
 *
 * @module
 */
import type { WorkloadKind } from "../api/workload.ts";
import type { DistributionSummary } from "../rightsizing/distribution.ts";
import type { ContainerAmounts, WorkloadRecord } from "../rightsizing/workload_record.ts";

/** Requests and limits that `count` pods have. */
export interface PodAmounts extends ContainerAmounts {
  readonly count: number;
}

/** The change in the requests of all pods together; neither is negative. */
export interface Change {
  readonly grows: number;
  readonly shrinks: number;
}

/** Changes of both resources. */
export interface Changes {
  readonly cpu: Change;
  readonly memory: Change;
}

/** A container. */
export interface AdvisedContainer {
  readonly name: string;
  /** True where the template has it among its init containers. */
  readonly sidecar: boolean;
  /** In the workload's template; absent where that lacks the container, or can't be read. */
  readonly template?: ContainerAmounts;
  /** Requests and limits of running pods, most pods first; the original limits for pods in the market. */
  readonly pods: readonly PodAmounts[];
  /** Absent where there is no recommendation for it. */
  readonly recommended?: ContainerAmounts;
  /** The last adopted values; absent where there are none. */
  readonly inForce?: ContainerAmounts;
  /** How the recommendation was computed. */
  readonly explanation?: string;
  /** Usage that the recommendation is based on; absent where the report lacks it. */
  readonly usage?: { readonly cpu?: DistributionSummary; readonly memory?: DistributionSummary };
  /** Changes of its pods' requests; absent where there is no recommendation or nothing to compare. */
  readonly changes?: Changes;
}

/** A workload. */
export interface AdvisedWorkload {
  readonly namespace: string;
  readonly kind: WorkloadKind;
  readonly name: string;
  readonly policy: { readonly namespace: string; readonly name: string };
  readonly status: WorkloadRecord["status"];
  /** The reason, its meaning and its remedy; absent where there is none. */
  readonly reason?: string;
  readonly means?: string;
  readonly remedy?: string;
  /** The controller's message. */
  readonly message?: string;
  /** ISO 8601. */
  readonly lastRecommendation?: string;
  /** ISO 8601. */
  readonly lastApplied?: string;
  readonly lastApplyMethod?: NonNullable<WorkloadRecord["method"]>;
  /** False when there is no such workload any more; absent where that can't be read. */
  readonly exists?: boolean;
  /** Number of pods; absent where they can't be read. */
  readonly pods?: number;
  /** Each container of the report and of the template, once. */
  readonly containers: readonly AdvisedContainer[];
  readonly changes: Changes;
}

/** The whole content. */
export interface AdviceView {
  /** By namespace, kind and name. */
  readonly workloads: readonly AdvisedWorkload[];
  readonly changes: Changes;
  /** Unreadable objects, and omissions of the sums, in sentences. */
  readonly notes: readonly string[];
}

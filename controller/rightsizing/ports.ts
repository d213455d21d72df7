/**
 * What rightsizing needs from the outside: usage, and what it writes: workloads, statuses of policies, reports,
 * VerticalPodAutoscalers and events.
 *
 * @module
 */
import type { PublishedVPA } from "../../shared/rightsizing/published_vpa.ts";
import type { AnnotationPatch } from "../../shared/rightsizing/workload_annotations.ts";
import type { Pod } from "../../shared/api/pod.ts";
import type { PolicyStatus } from "../../shared/api/policy_status.ts";
import type { RightsizingEventReason } from "../../shared/api/reasons/rightsizing_reasons.ts";
import type { RecommendationReport } from "../../shared/api/recommendation_report.ts";
import type { WorkloadKind } from "../../shared/api/workload.ts";
import type { ContainerUsage } from "../../shared/rightsizing/distribution.ts";
import {
  ownContainers,
  type RightsizedWorkload,
} from "../../shared/rightsizing/guards/rightsizing_facts.ts";
import type { WantedResources } from "../../shared/resize/inputs/resources.ts";
import type { StoredPolicy } from "../../shared/rightsizing/policy_spec.ts";
import type { ReportPart } from "../../shared/rightsizing/reports.ts";

/** One workload. Its namespace stands beside it. */
export interface WorkloadIdentity {
  readonly kind: WorkloadKind;
  readonly name: string;
  readonly uid: string;
}

/** A time span, ms since 1970: what lies in it is after `fromMs`, and at `toMs` or before; never empty. */
export interface UsageWindow {
  /** Exclusive. */
  readonly fromMs: number;
  /** Inclusive. */
  readonly toMs: number;
}

/** What is asked of a source. */
export interface UsageQuestion {
  readonly namespace: string;
  readonly workload: WorkloadIdentity;
  /** Names of the pods that there are of it, by their owner references. */
  readonly pods: readonly string[];
  /** Names of pods of its namespace that are known to be others'. */
  readonly otherPods: readonly string[];
  /** Names of its containers, init containers left out. */
  readonly containers: readonly string[];
  readonly window: UsageWindow;
}

/**
 * Why there is no usage. `unreachable`: nothing came, or not now. `refused`: the server says that it
 * can't do such a question. `unreadable`: the answer does not fit it. `unavailable`: there is
 * no server to ask, or not yet.
 */
export interface UsageProblem {
  readonly problem: "unreachable" | "refused" | "unreadable" | "unavailable";
  /** In a sentence, without secrets. */
  readonly message: string;
}

/**
 * Usage by container, over all pods of the workload. Each container that was asked for is there; one
 * of which nothing was seen has distributions without samples. A source that keeps no single samples
 * may answer for a window that ends later, now, and is not longer.
 */
export type UsageAnswer =
  | {
    readonly usage: ReadonlyMap<string, ContainerUsage>;
    /**
     * Since when the source has watched for the workload, ms since 1970: of the time before it may have
     * seen nothing. @default it has seen whatever there was in the window
     */
    readonly watchedSinceMs?: number;
  }
  | UsageProblem;

/** Where usage comes from. */
export interface UsageSource {
  /** Never rejects; `signal` ends the wait. */
  usage(question: UsageQuestion, signal: AbortSignal): Promise<UsageAnswer>;
}

/** When, and about which pods. */
export interface QuestionInput {
  /** All pods of the workload's namespace, and which of them are its own. */
  readonly neighbours: readonly Pod[];
  readonly isOwn: (pod: Pod) => boolean;
  /** Ms since 1970. */
  readonly nowMs: number;
  readonly windowMs: number;
}

/** The question about all containers of the workload, init containers and sidecars left out. */
export function usageQuestion(
  workload: RightsizedWorkload,
  { neighbours, isOwn, nowMs, windowMs }: QuestionInput,
): UsageQuestion {
  const { kind, metadata: { namespace, name, uid } } = workload;
  const pods: string[] = [];
  const otherPods: string[] = [];
  for (const pod of neighbours) {
    (isOwn(pod) ? pods : otherPods).push(pod.metadata.name);
  }
  return {
    namespace,
    workload: { kind, name, uid },
    pods,
    otherPods,
    containers: ownContainers(workload).map((one) => one.name),
    window: { fromMs: nowMs - windowMs, toMs: nowMs },
  };
}

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
   * Creates the report, or replaces the version that is named, and returns it as stored. 409 `AlreadyExists`
   * where there is one already, and `Conflict` where the version is not the stored one.
   */
  apply(report: NewReport): Promise<RecommendationReport>;
  /** Deletes the report if its UID and its version are still these, else 409; 404 when it is gone. */
  remove(report: Pick<RecommendationReport, "metadata">): Promise<void>;
}

/** Writes VPAs with recommendations. Each call throws an `ApiError` when the server refuses. */
export interface VPAPublisher {
  /**
   * Makes the VPA, which recommends nothing yet, and resolves with its UID. 404 where the kind
   * is not defined, 409 where there is one of the name.
   */
  create(vpa: PublishedVPA): Promise<string>;
  /** Replaces what the VPA recommends, if its UID is still this one. */
  recommend(vpa: PublishedVPA, uid: string): Promise<void>;
  /** Deletes the VPA if its UID is still this one; 404 when it is gone. */
  remove(
    vpa: { readonly namespace: string; readonly name: string; readonly uid: string },
  ): Promise<void>;
}

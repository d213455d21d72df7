/**
 * Everything that the guards look at, read before the first one runs.
 *
 * @module
 */
import type { HorizontalPodAutoscaler, VerticalPodAutoscaler } from "../../api/autoscalers.ts";
import type { Node } from "../../api/node.ts";
import type { Pod, Resources } from "../../api/pod.ts";
import type { RightsizingReason } from "../../api/reasons/rightsizing_reasons.ts";
import type { PodTemplate, Workload, WorkloadSpec } from "../../api/workload.ts";
import type { KnownNode } from "../../resize/checks/node_capacity.ts";
import type { QuotaRoom } from "../../resize/checks/resource_quota.ts";
import type { Check, Verdict } from "../../resize/run_checks.ts";
import type { ResourceRanges } from "../../resize/inputs/resize_input.ts";
import type { PolicySpec } from "../policy_spec.ts";
import type { ContainerRecommendation } from "../recommend.ts";
import type { ContainerTemplate } from "../workload_record.ts";

/** A workload with a readable template, see `rightsizedWorkload()`. */
export interface RightsizedWorkload
  extends Pick<Workload, "kind" | "metadata" | "rollout">, WorkloadSpec {}

/** How values come to containers. */
export type ApplyMethod = "InPlace" | "Recreate";

/** A permission that a 403 has shown to be missing. */
export interface MissingPermission {
  /** The method that needs it. */
  readonly method: ApplyMethod;
  /** In messages: `patch pods/resize in namespace shop`. */
  readonly permission: string;
}

/** The denial of the last application by a policy engine. */
export interface LastDenial {
  readonly message: string;
  /** The denied recommendations: nothing is known of other values. */
  readonly recommendations: readonly ContainerRecommendation[];
  /** When the change may be sent again, ms since 1970. */
  readonly retryAtMs: number;
}

/** The largest allocatable amounts of any node, millicores and bytes; Infinity where a node does not report it. */
export type LargestNode = Required<Pick<Node, "allocatableCPU" | "allocatableMemory">>;

/** The state of one workload under the policy that has won it. */
export interface RightsizingSnapshot {
  /** Ms since 1970. */
  readonly nowMs: number;
  readonly policy: PolicySpec;
  /** The configuration's dry-run, for all policies. */
  readonly dryRun: boolean;
  readonly workload: RightsizedWorkload;
  /** The workload's pods that have not ended and are not ending. */
  readonly pods: readonly Pod[];
  /** By name; a node that is not known bounds nothing. */
  readonly nodes: ReadonlyMap<string, KnownNode>;
  /** Absent: no node is known. */
  readonly largestNode?: LargestNode;
  readonly recommendations: readonly ContainerRecommendation[];
  /** By container: the number of samples, of the resource that has fewer. */
  readonly samples: ReadonlyMap<string, number>;
  /** By container: the largest memory sample of any pod in the window, bytes. */
  readonly memoryPeaks: ReadonlyMap<string, number>;
  /** HPAs that scale the workload. */
  readonly autoscalers: readonly HorizontalPodAutoscaler[];
  /** VPAs that target the workload. */
  readonly verticalAutoscalers: readonly VerticalPodAutoscaler[];
  /** Absent where no LimitRange bounds CPU or memory. */
  readonly ranges?: ResourceRanges;
  readonly quotas: readonly QuotaRoom[];
  /** A sentence for each object that would bound the workload and can't be read. */
  readonly unreadable: readonly string[];
  readonly missingPermissions: readonly MissingPermission[];
  readonly denial?: LastDenial;
  /** When values were last applied to the workload, ms since 1970. */
  readonly lastAppliedMs?: number;
  /** Values of earlier applications, by container: new pods get these in place of the template's. */
  readonly inForce: ReadonlyMap<string, Resources>;
  /** The template's containers with their last changes by other field managers; absent: not known. */
  readonly recordedTemplate?: readonly ContainerTemplate[];
  /** Whether the server serves `pods/resize`. */
  readonly resizeServed: boolean;
  /** Whether the server accepts a resize to a lower memory limit: from 1.34 on. */
  readonly lowersMemoryLimits: boolean;
  /** Whether the market owns `limits.cpu` of the pods. */
  readonly marketManages: boolean;
}

/** The verdict of a guard; undefined: go on. */
export type GuardVerdict = Verdict<RightsizingReason>;

/** A check of rightsizing, which decides for a workload. */
export type Guard = Check<RightsizingSnapshot, RightsizingReason>;

/** The workload for the guards; undefined where its pod template can't be read. */
export function rightsizedWorkload(
  { kind, metadata, rollout, spec }: Workload,
): RightsizedWorkload | undefined {
  return spec === undefined ? undefined : { kind, metadata, rollout, ...spec };
}

/** The containers that rightsizing changes: no sidecars and other init containers. */
export function appContainers(
  { template }: Pick<RightsizedWorkload, "template">,
): PodTemplate["containers"] {
  return template.containers.filter(({ sidecar }) => !sidecar);
}

/**
 * The kinds that the simulated API stores: their defaults, their validation, and what a write changes.
 *
 * @module
 */
import type * as z from "zod";
import type { ConfigMap } from "../../../shared/api/config_map.ts";
import type { EndpointSlice } from "../../../shared/api/endpoint_slice.ts";
import type {
  HorizontalPodAutoscaler,
  VerticalPodAutoscaler,
} from "../../../shared/api/autoscalers.ts";
import type { Lease } from "../../../shared/api/lease.ts";
import type { LimitRange, Namespace, ResourceQuota } from "../../../shared/api/namespace.ts";
import type { Node, PersistentVolume } from "../../../shared/api/node.ts";
import { NO_RESOURCES, type Pod, type PodContainer } from "../../../shared/api/pod.ts";
import { type PodAllocation, podAllocationSchema } from "../../../shared/api/pod_allocation.ts";
import type { PodDisruptionBudget } from "../../../shared/api/pod_disruption_budget.ts";
import {
  type RecommendationReport,
  recommendationReportSchema,
} from "../../../shared/api/recommendation_report.ts";
import type { ReplicaSet, Workload } from "../../../shared/api/workload.ts";
import type { ApiObject } from "../../../shared/api/object.ts";
import type { StoredPolicy } from "../../../shared/rightsizing/policy_spec.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import { policyStatusSchema } from "../../../shared/api/policy_status.ts";

/** The kinds of the simulated cluster. */
export interface StoredKinds {
  readonly Pod: Pod;
  readonly Namespace: Namespace;
  readonly Node: Node;
  readonly PodAllocation: PodAllocation;
  readonly Lease: Lease;
  readonly LimitRange: LimitRange;
  readonly ResourceQuota: ResourceQuota;
  readonly Deployment: Workload;
  readonly StatefulSet: Workload;
  readonly DaemonSet: Workload;
  readonly HorizontalPodAutoscaler: HorizontalPodAutoscaler;
  readonly VerticalPodAutoscaler: VerticalPodAutoscaler;
  readonly OptimizationPolicy: StoredPolicy;
  readonly RecommendationReport: RecommendationReport;
  readonly ReplicaSet: ReplicaSet;
  readonly PodDisruptionBudget: PodDisruptionBudget;
  readonly PersistentVolume: PersistentVolume;
  readonly ConfigMap: ConfigMap;
  readonly EndpointSlice: EndpointSlice;
}

/** A kind's name. */
export type KindName = keyof StoredKinds;

/** One kind's rules. */
export interface StoredKind<T extends ApiObject> {
  readonly kind: KindName;
  /** The object as it is after its creation: without status. */
  withoutStatus(written: T): T;
  /** The spec half of `written` with the status of `stored`. */
  takeSpec(stored: T, written: T): T;
  /** The status half of `written` with the spec of `stored`. */
  takeStatus(stored: T, written: T): T;
  /**
   * The object as it may be stored. Throws an `ApiError` with status 422 when it is invalid, or
   * changes what is immutable against `before`.
   */
  admit(object: T, before: T | undefined): T;
  /** True when `metadata.generation` counts the changes of the spec. */
  readonly hasGeneration: boolean;
  /** The node to which the object belongs, for field selectors. */
  nodeName?(object: T): string;
}

/** Members of a container that only the kubelet sets. */
const CONTAINER_STATUS = [
  "containerID",
  "startedAtMs",
  "restartedAtMs",
  "oomKilledAtMs",
  "crashLooping",
] as const;
const POD_STATUS = ["startedAtMs", "readySinceMs"] as const;

/** `spec` with those members of `from`, or without where `from` has none. */
function withMembers<T extends object>(
  spec: T,
  { from, names }: { readonly from: Partial<T> | undefined; readonly names: readonly (keyof T)[] },
): T {
  const result = { ...spec };
  for (const name of names) {
    delete result[name];
    const value = from?.[name];
    if (value !== undefined) result[name] = value;
  }
  return result;
}

/** `spec` with the status of `from`; a container that `from` does not know has none. */
function withStatus(spec: Pod, from: Pod | undefined): Pod {
  const containers = (ofSpec: readonly PodContainer[], ofStatus: readonly PodContainer[] = []) =>
    ofSpec.map((container) => {
      const status = ofStatus.find(({ name }) => name === container.name);
      const { ready = false, applied = NO_RESOURCES } = status ?? {};
      const members = withMembers(container, { from: status, names: CONTAINER_STATUS });
      return { ...members, ready, applied };
    });
  return {
    ...withMembers(spec, { from, names: POD_STATUS }),
    phase: from?.phase ?? "Pending",
    ready: from?.ready ?? false,
    resizeConditions: from?.resizeConditions ?? [],
    containers: containers(spec.containers, from?.containers),
    initContainers: containers(spec.initContainers, from?.initContainers),
  };
}

/** The rules of pods. */
export const podKind: StoredKind<Pod> = {
  kind: "Pod",
  hasGeneration: false,
  withoutStatus: (written) => withStatus(written, undefined),
  takeSpec: (stored, written) => withStatus(written, stored),
  takeStatus: (stored, written) => withStatus(stored, written),
  admit: (pod) => pod,
  nodeName: (pod) => pod.nodeName,
};

const IDENTITY = ["podName", "podUID", "nodeName", "namespace"] as const;

function invalid(allocation: PodAllocation, problem: string): ApiError {
  const { name } = allocation.metadata;
  return new ApiError(422, "Invalid", `PodAllocation "${name}" is invalid: ${problem}`);
}

/** Fields that the schema does not know are dropped, as a structural schema prunes them. */
function admit(allocation: PodAllocation, before: PodAllocation | undefined): PodAllocation {
  const parsed = podAllocationSchema.safeParse(allocation);
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) =>
      `${issue.path.join(".")}: ${issue.message}`
    );
    throw invalid(allocation, problems.join("; "));
  }
  if (before !== undefined) {
    for (const field of IDENTITY) {
      if (parsed.data.spec[field] !== before.spec[field]) {
        throw invalid(allocation, `spec.${field}: Invalid value: field is immutable`);
      }
    }
  }
  return parsed.data;
}

/** The rules of allocations. */
export const podAllocationKind: StoredKind<PodAllocation> = {
  kind: "PodAllocation",
  hasGeneration: true,
  withoutStatus: ({ status: _status, ...rest }) => rest,
  takeSpec({ status }, { status: _status, ...rest }) {
    return { ...rest, ...(status === undefined ? {} : { status }) };
  },
  takeStatus({ status: _status, ...rest }, { status }) {
    return { ...rest, ...(status === undefined ? {} : { status }) };
  },
  admit,
  nodeName: (allocation) => allocation.spec.nodeName,
};

/** What the schema makes of it; throws an `ApiError` with status 422 that names the fields. */
function admitted<S extends z.ZodType>(
  { kind, metadata }: { readonly kind: KindName; readonly metadata: ApiObject["metadata"] },
  { schema, value }: { readonly schema: S; readonly value: unknown },
): z.output<S> {
  const { data, error } = schema.safeParse(value);
  if (error === undefined) return data as z.output<S>;
  const problems = error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
  throw new ApiError(
    422,
    "Invalid",
    `${kind} "${metadata.name}" is invalid: ${problems.join("; ")}`,
  );
}

/** The rules of policies. */
export const optimizationPolicyKind: StoredKind<StoredPolicy> = {
  kind: "OptimizationPolicy",
  hasGeneration: true,
  withoutStatus: (policy) => ({ ...policy, status: {} }),
  takeSpec: ({ status }, written) => ({ ...written, status }),
  takeStatus: (stored, { status }) => ({ ...stored, status }),
  admit: (policy) => ({
    ...policy,
    status: admitted(
      { kind: "OptimizationPolicy", metadata: policy.metadata },
      { schema: policyStatusSchema, value: policy.status },
    ),
  }),
};

/** The rules of reports; they have no status apart. */
export const recommendationReportKind: StoredKind<RecommendationReport> = {
  kind: "RecommendationReport",
  hasGeneration: false,
  withoutStatus: (report) => report,
  takeSpec: (_stored, written) => written,
  takeStatus: (_stored, written) => written,
  admit: (report) =>
    admitted({ kind: "RecommendationReport", metadata: report.metadata }, {
      schema: recommendationReportSchema,
      value: report,
    }),
};

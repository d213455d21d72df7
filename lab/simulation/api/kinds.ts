/**
 * The kinds that the simulated API stores: their defaults, their validation, and what a write changes.
 *
 * @module
 */
import type * as z from "zod";
import type { ConfigMap } from "../../../shared/api/config_map.ts";
import type { EndpointSlice } from "../../../shared/admission/ports.ts";
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
  /**
   * `spec` with the status of `from`, with none where that is absent. Default: what is written is stored
   * as a whole.
   */
  withStatus?(spec: T, from: T | undefined): T;
  /**
   * The object as it may be stored. Throws an `ApiError` with status 422 when it is invalid, or
   * changes what is immutable against `before`.
   */
  admit?(object: T, before: T | undefined): T;
  /** `metadata.generation` counts the changes of the spec. */
  readonly hasGeneration?: true;
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
const POD_STATUS = ["startTimeMs", "readySinceMs"] as const;

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
function podWithStatus(spec: Pod, from: Pod | undefined): Pod {
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

const IDENTITY = ["podName", "podUID", "nodeName", "namespace"] as const;

/** Names an object in an error. */
export type NamedObject = {
  readonly kind: KindName;
  readonly metadata: Pick<ApiObject["metadata"], "name">;
};

/** The server's answer to an object that its kind refuses. */
export function invalid({ kind, metadata: { name } }: NamedObject, problem: string): ApiError {
  return new ApiError(422, "Invalid", `${kind} "${name}" is invalid: ${problem}`);
}

/** Throws 422 where a patch of the stored object names another UID: it was made for one before it. */
export function refuseOtherUID(
  { kind, metadata }: NamedObject & { readonly metadata: Pick<ApiObject["metadata"], "uid"> },
  uid: string,
): void {
  if (uid === metadata.uid) return;
  throw invalid({ kind, metadata }, `metadata.uid: Invalid value: "${uid}": field is immutable`);
}

/** Fields that the schema does not know are dropped, as a structural schema prunes them. */
function admitAllocation(
  allocation: PodAllocation,
  before: PodAllocation | undefined,
): PodAllocation {
  const admitted = admittedBy(podAllocationSchema, allocation, allocation);
  for (const field of IDENTITY) {
    if (before !== undefined && admitted.spec[field] !== before.spec[field]) {
      throw invalid(allocation, `spec.${field}: Invalid value: field is immutable`);
    }
  }
  return admitted;
}

/** The value as the schema admits it; throws an `ApiError` with status 422 that names the fields. */
function admittedBy<S extends z.ZodType>(
  schema: S,
  value: unknown,
  named: NamedObject,
): z.output<S> {
  const { data, error } = schema.safeParse(value);
  if (error === undefined) return data as z.output<S>;
  const problems = error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
  throw invalid(named, problems.join("; "));
}

/** The rules of all kinds; most have no status apart for this product. */
export const KINDS: { readonly [K in KindName]: StoredKind<StoredKinds[K]> } = {
  Pod: { withStatus: podWithStatus, nodeName: (pod) => pod.nodeName },
  PodAllocation: {
    withStatus: ({ status: _status, ...spec }, from) =>
      from?.status === undefined ? spec : { ...spec, status: from.status },
    admit: admitAllocation,
    hasGeneration: true,
    nodeName: (allocation) => allocation.spec.nodeName,
  },
  OptimizationPolicy: {
    withStatus: (policy, from) => ({ ...policy, status: from?.status ?? {} }),
    admit(policy) {
      const named = { kind: "OptimizationPolicy", metadata: policy.metadata } as const;
      return { ...policy, status: admittedBy(policyStatusSchema, policy.status, named) };
    },
    hasGeneration: true,
  },
  RecommendationReport: {
    admit: (report) => admittedBy(recommendationReportSchema, report, report),
  },
  Namespace: {},
  Node: {},
  Lease: {},
  LimitRange: {},
  ResourceQuota: {},
  Deployment: {},
  StatefulSet: {},
  DaemonSet: {},
  HorizontalPodAutoscaler: {},
  VerticalPodAutoscaler: {},
  ReplicaSet: {},
  PodDisruptionBudget: {},
  PersistentVolume: {},
  ConfigMap: {},
  EndpointSlice: {},
};

/**
 * What an `OptimizationPolicy` asks for, with its defaults, in numbers: what all of rightsizing works
 * with, whatever the object in the API looks like.
 *
 * @module
 */
import type { ResourceName } from "../api/pod.ts";
import type { WorkloadKind } from "../api/workload.ts";

/** Auto applies, Recommend tells, Disabled does nothing. */
export type PolicyMode = "Auto" | "Recommend" | "Disabled";

/** Which of the samples counts. */
export type Percentile = "P50" | "P90" | "P95" | "P99";

/** Where usage comes from. */
export type UsageProvider = "prometheus" | "metrics-server" | "custom";

/** One term of a label selector, as `metav1.LabelSelectorRequirement`. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
  readonly values: readonly string[];
}

/** All terms are ANDed; none at all selects everything. */
export interface LabelSelector {
  readonly matchLabels: Readonly<Record<string, string>>;
  readonly matchExpressions: readonly LabelRequirement[];
}

/** Which workloads a policy is for; all that is there is ANDed. */
export interface PolicySelector {
  readonly namespaceSelector?: LabelSelector;
  readonly workloadSelector?: LabelSelector;
  /** Deny wins; an empty `allow` is all. */
  readonly namespaces?: { readonly allow: readonly string[]; readonly deny: readonly string[] };
  /** What is left of include (all when empty) without exclude; may be nothing. */
  readonly workloadKinds: readonly WorkloadKind[];
}

/** The least and the most that a request may be: millicores or bytes. */
export interface ResourceBounds {
  readonly min: number;
  readonly max: number;
}

/** How recommendations become values of containers. */
export interface UpdateStrategy {
  readonly allowInPlaceResize: boolean;
  readonly allowRecreate: boolean;
  readonly updateRequestsOnly: boolean;
  /** Limit = request × this; where limits are updated. */
  readonly limitMultipliers: Readonly<Record<ResourceName, number>>;
  /** Nothing is applied for a change of less, percent of the present value. */
  readonly changeThresholdPercent: number;
  /** Between two applications to one workload, ms. */
  readonly cooldownMs: number;
  readonly useServerSideApply: boolean;
  readonly allowWithHPA: boolean;
  readonly publishVPA: boolean;
}

/** A policy's spec. */
export interface PolicySpec {
  readonly mode: PolicyMode;
  /** 1..1000: of the policies that match, the one of highest weight wins. */
  readonly weight: number;
  readonly selector: PolicySelector;
  readonly provider: UsageProvider;
  /** Of the registered source, where the provider is `custom`. */
  readonly customSource?: string;
  readonly windowMs: number;
  readonly percentile: Percentile;
  readonly safetyFactor: number;
  readonly minSamples: number;
  readonly bounds: Readonly<Record<ResourceName, ResourceBounds>>;
  readonly updateStrategy: UpdateStrategy;
  readonly intervalMs: number;
}

/**
 * What an `OptimizationPolicy` asks for, with its defaults, in numbers: what all of rightsizing works with,
 * whatever the object in the API looks like.
 *
 * @module
 */
import type * as z from "zod";
import {
  countedQuantity,
  faultsOf,
  type FieldFault,
  type QuantityOf,
  type WrittenQuantity,
} from "../api/fields.ts";
import type { LabelSelector } from "../api/label_selector.ts";
import { policySpecSchema, type UsageProvider } from "../api/optimization_policy.ts";
import type { PolicyStatus } from "../api/policy_status.ts";
import type { WorkloadKind } from "../api/workload.ts";
import type { ApiObject } from "../api/object.ts";
import { parseGoDuration } from "../duration.ts";
import type { ResourceName } from "../api/pod.ts";

/** Auto applies, Recommend reports, Disabled does nothing. */
export type PolicyMode = "Auto" | "Recommend" | "Disabled";

/** Which of the samples counts. */
export type Percentile = "P50" | "P90" | "P95" | "P99";

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

/** A spec, or what is wrong with it. */
export interface PolicyReading {
  /** Absent exactly where there are faults. */
  readonly spec?: PolicySpec;
  readonly faults: readonly FieldFault[];
}

/** What the controller's settings say where a policy says nothing. */
export interface PolicyDefaults {
  /** Absent: each policy has to name its own. */
  readonly provider?: UsageProvider;
}

/** All kinds, in the order of reports. */
export const WORKLOAD_KINDS: readonly WorkloadKind[] = ["Deployment", "StatefulSet", "DaemonSet"];

type WrittenSpec = z.output<typeof policySpecSchema>;

/**
 * The spec in numbers, with the defaults of all fields that are not there: the object may have been
 * stored before they were. Fields that the schema does not know are of no matter.
 */
export function readPolicySpec(raw: unknown, defaults: PolicyDefaults = {}): PolicyReading {
  const { data, error } = policySpecSchema.safeParse(raw);
  if (data === undefined) return { faults: faultsOf(error, { raw, root: "spec" }) };
  const { provider = defaults.provider, custom } = data.metricsConfig;
  if (provider === undefined) return { faults: [NO_PROVIDER] };
  if (provider === "custom" && custom === undefined) return { faults: [NO_CUSTOM_NAME] };
  return { spec: specOf(data, provider), faults: [] };
}

const NO_PROVIDER: FieldFault = {
  field: "spec.metricsConfig.provider",
  valid: "must be one of prometheus, metrics-server, custom, since the controller's setting " +
    "rightsizing.provider names none",
};

const NO_CUSTOM_NAME: FieldFault = {
  field: "spec.metricsConfig.custom",
  valid: "must name a provider of the controller's configuration, since its setting " +
    "rightsizing.provider is custom",
};

function specOf(written: WrittenSpec, provider: UsageProvider): PolicySpec {
  const { mode, weight, metricsConfig, resourceBounds } = written;
  const { custom, percentile, safetyFactor, metricsServer } = metricsConfig;
  return {
    mode,
    weight,
    selector: selectorOf(written.selector),
    provider,
    ...(provider === "custom" && custom !== undefined ? { customSource: custom.name } : {}),
    windowMs: parseGoDuration(metricsConfig.rollingWindow),
    percentile,
    safetyFactor,
    minSamples: metricsServer?.minSamplesRequired ?? metricsConfig.minSamples,
    bounds: {
      cpu: boundsOf("cpu", resourceBounds.cpu),
      memory: boundsOf("memory", resourceBounds.memory),
    },
    updateStrategy: strategyOf(written.updateStrategy),
    intervalMs: parseGoDuration(written.reconciliationInterval),
  };
}

function selectorOf(written: WrittenSpec["selector"]): PolicySelector {
  const { namespaceSelector, workloadSelector, namespaces, workloadTypes } = written;
  const { include = [], exclude = [] } = workloadTypes ?? {};
  return {
    ...(namespaceSelector === undefined ? {} : { namespaceSelector }),
    ...(workloadSelector === undefined ? {} : { workloadSelector }),
    ...(namespaces === undefined ? {} : { namespaces }),
    workloadKinds: WORKLOAD_KINDS.filter((kind) =>
      (include.length === 0 || include.includes(kind)) && !exclude.includes(kind)
    ),
  };
}

function boundsOf(
  of: QuantityOf,
  { min, max }: { readonly min: WrittenQuantity; readonly max: WrittenQuantity },
): ResourceBounds {
  // The schema has seen that both can be counted.
  return { min: countedQuantity(of, min) ?? 0, max: countedQuantity(of, max) ?? 0 };
}

function strategyOf(written: WrittenSpec["updateStrategy"]): UpdateStrategy {
  const { limitConfig, cooldown, ...same } = written;
  return {
    ...same,
    limitMultipliers: {
      cpu: limitConfig.cpuLimitMultiplier,
      memory: limitConfig.memoryLimitMultiplier,
    },
    cooldownMs: parseGoDuration(cooldown),
  };
}

/** The object, with its spec in numbers, or with what is wrong with that. */
export interface StoredPolicy extends ApiObject, PolicyReading {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
    /** Grows with each change of the spec. */
    readonly generation: number;
  };
  /** As far as it can be read. */
  readonly status: PolicyStatus;
  /** The faults in a sentence; absent where there are none. */
  readonly unreadable?: string;
}

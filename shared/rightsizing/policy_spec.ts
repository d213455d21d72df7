/**
 * The spec of an `OptimizationPolicy` in numbers, with its defaults.
 *
 * @module
 */
import type * as z from "zod";
import { countedQuantity, faultsOf, type FieldFault } from "../api/fields.ts";
import type { LabelSelector } from "../api/label_selector.ts";
import {
  policySpecSchema,
  USAGE_PROVIDERS,
  type UsageProvider,
} from "../api/optimization_policy.ts";
import type { PolicyStatus } from "../api/policy_status.ts";
import type { WorkloadKind } from "../api/workload.ts";
import type { ApiObject } from "../api/object.ts";
import { defined } from "../defined.ts";
import { parseGoDuration } from "../duration.ts";
import type { ResourceName } from "../api/pod.ts";

/** The spec as the schema reads it. */
export type WrittenSpec = z.output<typeof policySpecSchema>;

/** The percentile of the samples that counts. */
export type Percentile = WrittenSpec["metricsConfig"]["percentile"];

/** Selects workloads: a workload must match each part that is set. */
export interface PolicySelector {
  readonly namespaceSelector?: LabelSelector;
  readonly workloadSelector?: LabelSelector;
  /** `deny` takes precedence; an empty `allow` allows all. */
  readonly namespaces?: { readonly allow: readonly string[]; readonly deny: readonly string[] };
  /** The included kinds (all if none is) without the excluded ones; may be empty. */
  readonly workloadKinds: readonly WorkloadKind[];
}

/** The smallest and the largest request: millicores or bytes. */
export interface ResourceBounds {
  readonly min: number;
  readonly max: number;
}

/** How recommendations become values of containers. */
export interface UpdateStrategy
  extends Omit<WrittenSpec["updateStrategy"], "limitConfig" | "cooldown"> {
  /** Limit = request × this; where limits are updated. */
  readonly limitMultipliers: Readonly<Record<ResourceName, number>>;
  /** Least time between two applications to one workload, ms. */
  readonly cooldownMs: number;
}

/** A policy's spec. */
export interface PolicySpec
  extends
    Pick<WrittenSpec, "mode" | "weight">,
    Pick<WrittenSpec["metricsConfig"], "percentile" | "safetyFactor" | "minSamples"> {
  readonly selector: PolicySelector;
  readonly provider: UsageProvider;
  /** Name of the registered source, where the provider is `custom`. */
  readonly customSource?: string;
  readonly windowMs: number;
  readonly bounds: Readonly<Record<ResourceName, ResourceBounds>>;
  readonly updateStrategy: UpdateStrategy;
  readonly intervalMs: number;
}

/** A spec, or its faults. */
export interface PolicyReading {
  /** Absent exactly where there are faults. */
  readonly spec?: PolicySpec;
  readonly faults: readonly FieldFault[];
}

/** The controller's settings that apply where a policy has no value. */
export interface PolicyDefaults {
  /** Absent: each policy must name one. */
  readonly provider?: UsageProvider;
}

/** All kinds, in the order of reports. */
export const WORKLOAD_KINDS: readonly WorkloadKind[] = ["Deployment", "StatefulSet", "DaemonSet"];

/**
 * Reads a spec, with defaults for missing fields: the server may have stored the object before the schema
 * had them. Ignores unknown fields.
 */
export function readPolicySpec(raw: unknown, defaults: PolicyDefaults = {}): PolicyReading {
  const { data, error } = policySpecSchema.safeParse(raw);
  if (data === undefined) return { faults: faultsOf(error, { raw, root: "spec" }) };
  const { provider = defaults.provider, custom } = data.metricsConfig;
  if (provider === undefined) {
    const valid = `must be one of ${USAGE_PROVIDERS.join(", ")}, since the controller's setting ` +
      "rightsizing.provider names none";
    return { faults: [{ field: "spec.metricsConfig.provider", valid }] };
  }
  if (provider === "custom" && custom === undefined) {
    const valid = "must name a provider of the controller's configuration, since its setting " +
      "rightsizing.provider is custom";
    return { faults: [{ field: "spec.metricsConfig.custom", valid }] };
  }
  return { spec: specOf(data, provider), faults: [] };
}

function specOf(
  {
    mode,
    weight,
    selector: { workloadTypes, ...selector },
    metricsConfig: { custom, percentile, safetyFactor, minSamples, rollingWindow, metricsServer },
    resourceBounds,
    updateStrategy: { limitConfig, cooldown, ...strategy },
    reconciliationInterval,
  }: WrittenSpec,
  provider: UsageProvider,
): PolicySpec {
  const { include = [], exclude = [] } = workloadTypes ?? {};
  const boundsOf = (resource: ResourceName): ResourceBounds => {
    const { min, max } = resourceBounds[resource];
    // The schema has checked that both quantities can be counted.
    return { min: countedQuantity(resource, min) ?? 0, max: countedQuantity(resource, max) ?? 0 };
  };
  return defined({
    mode,
    weight,
    selector: defined({
      ...selector,
      workloadKinds: WORKLOAD_KINDS.filter((kind) =>
        (include.length === 0 || include.includes(kind)) && !exclude.includes(kind)
      ),
    }),
    provider,
    customSource: provider === "custom" ? custom?.name : undefined,
    windowMs: parseGoDuration(rollingWindow),
    percentile,
    safetyFactor,
    minSamples: metricsServer?.minSamplesRequired ?? minSamples,
    bounds: { cpu: boundsOf("cpu"), memory: boundsOf("memory") },
    updateStrategy: {
      ...strategy,
      limitMultipliers: {
        cpu: limitConfig.cpuLimitMultiplier,
        memory: limitConfig.memoryLimitMultiplier,
      },
      cooldownMs: parseGoDuration(cooldown),
    },
    intervalMs: parseGoDuration(reconciliationInterval),
  });
}

/** An OptimizationPolicy with its spec in numbers, or the faults of the spec. */
export interface StoredPolicy extends ApiObject, PolicyReading {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
    /** Grows with each change of the spec. */
    readonly generation: number;
  };
  /** The part of it that can be read. */
  readonly status: PolicyStatus;
  /** The faults in a sentence; absent where there are none. */
  readonly unreadable?: string;
}

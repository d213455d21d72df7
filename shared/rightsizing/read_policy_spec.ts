/**
 * From a policy as the API has it to what rightsizing works with.
 *
 * @module
 */
import type * as z from "zod";
import { policySpecSchema } from "../api/optimization_policy.ts";
import { countedQuantity, type QuantityOf, type WrittenQuantity } from "../api/fields.ts";
import type { WorkloadKind } from "../api/workload.ts";
import { parseGoDuration } from "../duration.ts";
import { faultsOf, type FieldFault } from "./field_fault.ts";
import type {
  PolicySelector,
  PolicySpec,
  ResourceBounds,
  UpdateStrategy,
  UsageProvider,
} from "./policy_spec.ts";

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

/** All kinds, in the order in which they are told. */
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

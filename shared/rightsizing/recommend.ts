/**
 * What containers should request, from what they used.
 *
 * @module
 */
import { amountText, RESOURCE_TITLES, truncatedProduct } from "./amounts.ts";
import type { ContainerUsage } from "./distribution.ts";
import type { ResourceName } from "../api/pod.ts";
import {
  type Estimate,
  type Estimator,
  type OOMKill,
  percentileOf,
  type Throttling,
  withBounds,
  withOOMRaise,
  withSafetyFactor,
  withThrottling,
} from "./estimator.ts";
import type { PolicySpec } from "./policy_spec.ts";

/** Values for one container: millicores and bytes, whole. */
export interface ContainerRecommendation {
  readonly container: string;
  /** Request. */
  readonly cpu: number;
  /** Request. */
  readonly memory: number;
  /** Absent where limits are left alone. */
  readonly cpuLimit?: number;
  readonly memoryLimit?: number;
  /** In a sentence: percentile, samples, window, raw value, factor, bounds and what clamped it. */
  readonly explanation: string;
}

/** The part of a policy that decides a recommendation. */
export interface RecommendationRule extends
  Pick<
    PolicySpec,
    "windowMs" | "percentile" | "safetyFactor" | "minSamples" | "bounds"
  > {
  readonly updateStrategy: Pick<
    PolicySpec["updateStrategy"],
    "updateRequestsOnly" | "limitMultipliers"
  >;
}

/** Events of a container that its samples do not show. */
export interface Corrections {
  /** Kills within the window. @default {[]} */
  readonly oomKills?: readonly OOMKill[];
  /** Absent where no limit throttled it, or that is not known. */
  readonly throttling?: Throttling;
}

/** Options of {@linkcode recommend}. */
export interface RecommendOptions {
  readonly rule: RecommendationRule;
  /** @default {{}} */
  readonly corrections?: Corrections;
}

/**
 * Percentile × safety factor, truncated, then clamped to the bounds; limits are the request × their
 * multiplier where the rule wants limits. The bounds are of requests: a limit may be above them. Undefined
 * where either resource has too few samples.
 */
export function recommend(
  usage: ContainerUsage,
  { rule, corrections = {} }: RecommendOptions,
): ContainerRecommendation | undefined {
  const { container } = usage;
  // Of nothing there is no percentile, whatever a policy may say.
  const need = Math.max(1, rule.minSamples);
  if (Math.min(usage.cpu.count, usage.memory.count) < need) return undefined;
  const cpu = cpuEstimator(rule, corrections)(usage.cpu);
  const memory = memoryEstimator(rule, corrections)(usage.memory);
  const requests = { container, cpu: cpu.amount, memory: memory.amount };
  const explanation = `${explained("cpu", cpu)}. ${explained("memory", memory)}`;
  if (rule.updateStrategy.updateRequestsOnly) return { ...requests, explanation };
  const { limitMultipliers } = rule.updateStrategy;
  const cpuLimit = limitOf(cpu, limitMultipliers.cpu);
  const memoryLimit = limitOf(memory, limitMultipliers.memory);
  const limits = `Limits: CPU ${
    amountText("cpu", cpuLimit)
  }, request times ${limitMultipliers.cpu}; memory ${
    amountText("memory", memoryLimit)
  }, request times ${limitMultipliers.memory}`;
  return { ...requests, cpuLimit, memoryLimit, explanation: `${explanation}. ${limits}` };
}

function cpuEstimator(rule: RecommendationRule, { throttling }: Corrections): Estimator {
  const resource = "cpu";
  const { percentile, windowMs, safetyFactor: factor } = rule;
  const plain = percentileOf({ resource, percentile, windowMs });
  const base = throttling === undefined ? plain : withThrottling(plain, throttling);
  const raised = withSafetyFactor(base, { resource, factor });
  return withBounds(raised, { resource, bounds: rule.bounds.cpu });
}

function memoryEstimator(rule: RecommendationRule, { oomKills = [] }: Corrections): Estimator {
  const resource = "memory";
  const { percentile, windowMs, safetyFactor: factor } = rule;
  const plain = percentileOf({ resource, percentile, windowMs });
  const raised = withOOMRaise(withSafetyFactor(plain, { resource, factor }), oomKills);
  return withBounds(raised, { resource, bounds: rule.bounds.memory });
}

/** Never below the request, which Kubernetes would refuse. */
function limitOf({ amount }: Estimate, multiplier: number): number {
  return Math.max(amount, truncatedProduct(amount, multiplier));
}

/** `CPU 336m: P90 of 2880 samples in 24h is 280m, times 1.2 is 336m, within bounds 50m to 2`. */
function explained(resource: ResourceName, { amount, steps }: Estimate): string {
  return `${RESOURCE_TITLES[resource]} ${amountText(resource, amount)}: ${steps.join(", ")}`;
}

/** Usage of a workload. */
export interface WorkloadUsage {
  /** In any order; of containers that the workload no longer has, too. */
  readonly usages: readonly ContainerUsage[];
  readonly rule: RecommendationRule;
  /** By container. @default {empty} */
  readonly corrections?: ReadonlyMap<string, Corrections>;
}

/** The recommendations for the containers that the workload's template names, once each and in its order. */
export function recommendWorkload(
  containers: readonly string[],
  { usages, rule, corrections = new Map() }: WorkloadUsage,
): readonly ContainerRecommendation[] {
  const known = new Map(usages.map((usage) => [usage.container, usage]));
  return [...new Set(containers)].flatMap((container) => {
    const usage = known.get(container);
    const own = corrections.get(container) ?? {};
    return usage === undefined ? [] : recommend(usage, { rule, corrections: own }) ?? [];
  });
}

/**
 * What containers should request, from what they used.
 *
 * @module
 */
import { amountText, RESOURCE_TITLES, truncatedProduct } from "./amounts.ts";
import { type ContainerUsage, distributionOfSamples } from "./distribution.ts";
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

/** What of a policy a recommendation hangs on. */
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

/** What samples of a container do not show. */
export interface Corrections {
  /** Kills within the window. @default {[]} */
  readonly oomKills?: readonly OOMKill[];
  /** Absent where no limit throttled it, or that is not known. */
  readonly throttling?: Throttling;
}

/** Too little is known for a recommendation. */
export interface InsufficientSamples {
  readonly container: string;
  readonly reason: "InsufficientSamples";
  /** Samples of the resource that has fewer. */
  readonly have: number;
  readonly need: number;
  /** A sentence without a period. */
  readonly message: string;
}

/** One of the two. */
export type RecommendOutcome =
  | { readonly recommendation: ContainerRecommendation; readonly insufficient?: undefined }
  | { readonly recommendation?: undefined; readonly insufficient: InsufficientSamples };

/** What is asked beside usage. */
export interface RecommendOptions {
  readonly rule: RecommendationRule;
  /** @default {{}} */
  readonly corrections?: Corrections;
}

/**
 * Percentile × safety factor, truncated, then clamped to the bounds; limits are the request × their
 * multiplier where the rule wants limits. The bounds are of requests: a limit may be above them.
 */
export function recommend(
  usage: ContainerUsage,
  { rule, corrections = {} }: RecommendOptions,
): RecommendOutcome {
  const { container } = usage;
  // Of nothing there is no percentile, whatever a policy may say.
  const need = Math.max(1, rule.minSamples);
  const have = Math.min(usage.cpu.count, usage.memory.count);
  if (have < need) {
    const message =
      `${container} has ${usage.cpu.count} samples of CPU and ${usage.memory.count} ` +
      `of memory, ${need} of each are needed`;
    return { insufficient: { container, reason: "InsufficientSamples", have, need, message } };
  }
  const cpu = cpuEstimator(rule, corrections)(usage.cpu);
  const memory = memoryEstimator(rule, corrections)(usage.memory);
  const requests = { container, cpu: cpu.amount, memory: memory.amount };
  const explanation = `${explained("cpu", cpu)}. ${explained("memory", memory)}`;
  if (rule.updateStrategy.updateRequestsOnly) {
    return { recommendation: { ...requests, explanation } };
  }
  const { limitMultipliers } = rule.updateStrategy;
  const cpuLimit = limitOf(cpu, limitMultipliers.cpu);
  const memoryLimit = limitOf(memory, limitMultipliers.memory);
  const limits = `Limits: CPU ${
    amountText("cpu", cpuLimit)
  }, request times ${limitMultipliers.cpu}; memory ${
    amountText("memory", memoryLimit)
  }, request times ${limitMultipliers.memory}`;
  return {
    recommendation: {
      ...requests,
      cpuLimit,
      memoryLimit,
      explanation: `${explanation}. ${limits}`,
    },
  };
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

/** What is known of a workload. */
export interface WorkloadUsage {
  /** In any order; of containers that the workload no longer has, too. */
  readonly usages: readonly ContainerUsage[];
  readonly rule: RecommendationRule;
  /** By container. @default {empty} */
  readonly corrections?: ReadonlyMap<string, Corrections>;
}

const NOTHING = distributionOfSamples([], { nowMs: 0, windowMs: 0 });

/**
 * One outcome for each container that the workload's template names, once each and in its order. One
 * without usage has too few samples: none.
 */
export function recommendWorkload(
  containers: readonly string[],
  { usages, rule, corrections = new Map() }: WorkloadUsage,
): RecommendOutcome[] {
  const known = new Map(usages.map((usage) => [usage.container, usage]));
  return [...new Set(containers)].map((container) =>
    recommend(known.get(container) ?? { container, cpu: NOTHING, memory: NOTHING }, {
      rule,
      corrections: corrections.get(container) ?? {},
    })
  );
}

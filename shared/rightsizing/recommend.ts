/**
 * What containers should request, from what they used.
 *
 * @module
 */
import { amountText, truncatedProduct } from "./amounts.ts";
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

/** Events of a container that its samples do not show. */
export interface Corrections {
  /** Kills within the window. @default {[]} */
  readonly oomKills?: readonly OOMKill[];
  /** Absent where no limit throttled it, or that is not known. */
  readonly throttling?: Throttling;
}

/**
 * Percentile × safety factor, truncated, then clamped to the bounds; limits are the request × their
 * multiplier where the rule wants limits. The bounds are of requests: a limit may be above them. Undefined
 * where either resource has too few samples.
 */
export function recommend(
  { container, ...usage }: ContainerUsage,
  { rule, corrections = {} }: { readonly rule: PolicySpec; readonly corrections?: Corrections },
): ContainerRecommendation | undefined {
  // Of nothing there is no percentile, whatever a policy may say.
  const need = Math.max(1, rule.minSamples);
  if (Math.min(usage.cpu.count, usage.memory.count) < need) return undefined;
  const cpu = estimatorOf("cpu", { rule, corrections })(usage.cpu);
  const memory = estimatorOf("memory", { rule, corrections })(usage.memory);
  const requests = { container, cpu: cpu.amount, memory: memory.amount };
  const explanation = `CPU ${explained("cpu", cpu)}. Memory ${explained("memory", memory)}`;
  const { updateRequestsOnly, limitMultipliers: times } = rule.updateStrategy;
  if (updateRequestsOnly) return { ...requests, explanation };
  const cpuLimit = limitOf(cpu, times.cpu);
  const memoryLimit = limitOf(memory, times.memory);
  const limits = `Limits: CPU ${amountText("cpu", cpuLimit)}, request times ${times.cpu}; ` +
    `memory ${amountText("memory", memoryLimit)}, request times ${times.memory}`;
  return { ...requests, cpuLimit, memoryLimit, explanation: `${explanation}. ${limits}` };
}

/** The steps from samples to a request, in their order. */
function estimatorOf(
  resource: ResourceName,
  { rule, corrections: { throttling, oomKills = [] } }: {
    readonly rule: PolicySpec;
    readonly corrections: Corrections;
  },
): Estimator {
  const { percentile, windowMs, safetyFactor: factor, bounds } = rule;
  const plain = percentileOf({ resource, percentile, windowMs });
  const isThrottled = resource === "cpu" && throttling !== undefined;
  const base = isThrottled ? withThrottling(plain, throttling) : plain;
  const safe = withSafetyFactor(base, { resource, factor });
  const raised = resource === "memory" ? withOOMRaise(safe, oomKills) : safe;
  return withBounds(raised, { resource, bounds: bounds[resource] });
}

/** Never below the request, which Kubernetes would refuse. */
function limitOf({ amount }: Estimate, multiplier: number): number {
  return Math.max(amount, truncatedProduct(amount, multiplier));
}

/** `336m: P90 of 2880 samples in 24h is 280m, times 1.2 is 336m, within bounds 50m to 2`. */
function explained(resource: ResourceName, { amount, steps }: Estimate): string {
  return `${amountText(resource, amount)}: ${steps.join(", ")}`;
}

/** The recommendations for the containers that the workload's template names, in its order. */
export function recommendWorkload(
  containers: readonly string[],
  { usages, rule, corrections }: {
    /** In any order; of containers that the workload no longer has, too. */
    readonly usages: readonly ContainerUsage[];
    readonly rule: PolicySpec;
    /** By container. */
    readonly corrections: ReadonlyMap<string, Corrections>;
  },
): readonly ContainerRecommendation[] {
  return containers.flatMap((name) => {
    const usage = usages.find(({ container }) => container === name);
    return usage && recommend(usage, { rule, corrections: corrections.get(name) ?? {} }) || [];
  });
}

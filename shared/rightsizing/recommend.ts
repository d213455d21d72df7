/**
 * Recommends requests by usage, in steps that are explained: percentile, corrections for throttling and OOM
 * kills, safety factor, bounds.
 *
 * @module
 */
import { formatDuration } from "../duration.ts";
import type { ResourceName } from "../api/pod.ts";
import { amountText, truncatedProduct } from "./amounts.ts";
import type { ContainerUsage, Distribution } from "./distribution.ts";
import type { Percentile, PolicySpec } from "./policy_spec.ts";

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
  /** Absent where no limit throttled the container, or that is not known. */
  readonly throttling?: Throttling;
}

/**
 * Percentile × safety factor, truncated, then clamped to the bounds; limits are the request × their
 * multiplier where the policy updates limits. The bounds are of requests: a limit may be above them. Undefined
 * where either resource has too few samples.
 */
export function recommend(
  { container, ...usage }: ContainerUsage,
  { policy, corrections = {} }: { readonly policy: PolicySpec; readonly corrections?: Corrections },
): ContainerRecommendation | undefined {
  // Without samples no percentile exists, whatever `minSamples` is.
  const need = Math.max(1, policy.minSamples);
  if (Math.min(usage.cpu.count, usage.memory.count) < need) return undefined;
  const cpu = estimateRequest(usage.cpu, { resource: "cpu", policy, corrections });
  const memory = estimateRequest(usage.memory, { resource: "memory", policy, corrections });
  const requests = { container, cpu: cpu.amount, memory: memory.amount };
  const explanation = `CPU ${explained("cpu", cpu)}. Memory ${explained("memory", memory)}`;
  const { updateRequestsOnly, limitMultipliers: times } = policy.updateStrategy;
  if (updateRequestsOnly) return { ...requests, explanation };
  const cpuLimit = limitOf(cpu, times.cpu);
  const memoryLimit = limitOf(memory, times.memory);
  const limits = `Limits: CPU ${amountText("cpu", cpuLimit)}, request times ${times.cpu}; ` +
    `memory ${amountText("memory", memoryLimit)}, request times ${times.memory}`;
  return { ...requests, cpuLimit, memoryLimit, explanation: `${explanation}. ${limits}` };
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
  { usages, policy, corrections }: {
    /** In any order; of containers that the workload no longer has, too. */
    readonly usages: readonly ContainerUsage[];
    readonly policy: PolicySpec;
    /** By container. */
    readonly corrections: ReadonlyMap<string, Corrections>;
  },
): readonly ContainerRecommendation[] {
  return containers.flatMap((name) => {
    const usage = usages.find(({ container }) => container === name);
    return usage && recommend(usage, { policy, corrections: corrections.get(name) ?? {} }) || [];
  });
}

/** An amount and the steps that led to it. */
export interface Estimate {
  /** Millicores or bytes, whole. */
  readonly amount: number;
  /** One phrase for each step, in order; the last is about `amount`. */
  readonly steps: readonly string[];
}

const FRACTIONS: Readonly<Record<Percentile, number>> = {
  P50: 0.5,
  P90: 0.9,
  P95: 0.95,
  P99: 0.99,
};

/**
 * Estimates a request from samples, of which there is one at least: percentile, raise for throttled CPU,
 * safety factor, raise for memory after OOM kills, bounds. The raise for throttling replaces usage that a
 * limit cut off, so the factor applies to it; the raise after a kill is a safety factor itself.
 */
export function estimateRequest(
  usage: Distribution,
  { resource, policy, corrections: { throttling, oomKills = [] } }: {
    readonly resource: ResourceName;
    readonly policy: Pick<PolicySpec, "percentile" | "windowMs" | "safetyFactor" | "bounds">;
    readonly corrections: Corrections;
  },
): Estimate {
  const text = (amount: number): string => amountText(resource, amount);
  const { percentile, windowMs, safetyFactor } = policy;
  const fraction = FRACTIONS[percentile];
  const steps: string[] = [];

  let amount = usage.quantile(fraction);
  const samples = `${usage.count} ${usage.count === 1 ? "sample" : "samples"}`;
  steps.push(`${percentile} of ${samples} in ${formatWindow(windowMs)} is ${text(amount)}`);

  if (resource === "cpu" && throttling !== undefined) {
    const wanted = wantedWhileThrottled(amount, { fraction, ...throttling });
    if (wanted > amount) {
      amount = wanted;
      const share = `${Number((100 * throttling.share).toFixed(1))} %`;
      const why = throttling.demand === undefined
        ? "more was wanted, how much is unknown"
        : "the market saw that much wanted";
      steps.push(
        `raised to ${text(amount)} since its limit ran out in ${share} of the periods (${why})`,
      );
    }
  }

  // Truncated to whole millicores or bytes, without loss by binary fractions.
  amount = truncatedProduct(amount, safetyFactor);
  steps.push(`times ${safetyFactor} is ${text(amount)}`);

  const had = resource === "memory" ? bytesAtKill(usage, oomKills) : 0;
  if (had > 0 && amount < raisedAfterOOM(had)) {
    amount = raisedAfterOOM(had);
    steps.push(`killed for lack of memory at ${text(had)}, so raised to ${text(amount)}`);
  }

  const { min, max } = policy.bounds[resource];
  const bounds = `bounds ${text(min)} to ${text(max)}`;
  if (amount < min) steps.push(`raised to the minimum of ${bounds}`);
  else if (amount > max) steps.push(`lowered to the maximum of ${bounds}`);
  else steps.push(`within ${bounds}`);
  return { amount: Math.min(max, Math.max(min, amount)), steps };
}

const DAY_MS = 86_400_000;

/** Several whole days are days, as in policies: `7d`; other windows are durations. */
function formatWindow(windowMs: number): string {
  const days = windowMs / DAY_MS;
  return Number.isInteger(days) && days > 1 ? `${days}d` : formatDuration(windowMs);
}

/** Throttling by a limit within the window. */
export interface Throttling {
  /**
   * Share of the enforcement periods in which the quota ran out, 0 to 1: `nr_throttled` / `nr_periods` of
   * `cpu.stat`, as cAdvisor's `container_cpu_cfs_throttled_periods_total` / `container_cpu_cfs_periods_total`.
   * The kernel counts no periods while a container is idle, so this overstates the share of the time for
   * one that seldom runs.
   */
  readonly share: number;
  /**
   * Demand that the market's agent has measured, millicores: `spec.market.demand` of the pod's allocation, which
   * is what its threads would use without a limit, with the agent's headroom. Where the quota runs out in each
   * period, it is a trial of at most four times the quota. Absent where no market runs.
   */
  readonly demand?: number;
}

/**
 * The quantile as it would be without throttling. A limit cuts off the largest samples, so with a throttled
 * share s the quantiles below 1 − s are right, and those above are too low.
 *
 * A quantile that is too low becomes the observed demand, if that is more. Without an observation it grows by the
 * factor 1 + s, twice as much at most: the next window shows whether that was enough.
 */
function wantedWhileThrottled(
  amount: number,
  { fraction, share, demand }: Throttling & { readonly fraction: number },
): number {
  if (fraction < 1 - share) return amount;
  return demand === undefined ? amount * (1 + share) : Math.max(amount, demand);
}

/** An OOM kill within the window; the caller leaves out older ones. */
export interface OOMKill {
  /** Bytes that the container had: its memory limit at that time, or its request, or 0 without both. */
  readonly hadBytes: number;
  /**
   * True if the container had no limit, so the node was short of memory. It had what it used then, which is not
   * known: the largest sample stands for that.
   */
  readonly unlimited?: true;
}

/** The least raise after a kill, so that small containers grow within few kills: 100Mi. */
const LEAST_RAISE_BYTES = 100 * 2 ** 20;
const RAISE_FACTOR = 1.2;

/** Bytes after a kill: max(20 %, 100Mi) over what it had. 256Mi becomes 356Mi, 1024Mi 1228.8Mi. */
function raisedAfterOOM(hadBytes: number): number {
  return Math.max(truncatedProduct(hadBytes, RAISE_FACTOR), hadBytes + LEAST_RAISE_BYTES);
}

/** The bytes that `raisedAfterOOM()` raises to this value, rounded down; 0 or less: none. 356Mi is from 256Mi. */
export function bytesBeforeOOM(raised: number): number {
  return Math.floor(Math.min(raised / RAISE_FACTOR, raised - LEAST_RAISE_BYTES));
}

/**
 * The most memory that the container had when it was killed; 0 without kills. Samples do not show the need: none
 * is taken at the moment of a kill, and none can be above the limit.
 */
function bytesAtKill(usage: Distribution, kills: readonly OOMKill[]): number {
  return Math.max(
    0,
    ...kills.map(({ hadBytes, unlimited = false }) =>
      unlimited ? Math.max(hadBytes, usage.max) : hadBytes
    ),
  );
}

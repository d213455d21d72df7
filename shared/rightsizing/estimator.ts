/**
 * Estimates of what a container should request of one resource: functions that wrap one another, each with one
 * idea, which it explains. Percentile, safety factor, bounds, and corrections for throttling and OOM kills.
 *
 * @module
 */
import { formatDuration } from "../duration.ts";
import { amountText, truncatedProduct } from "./amounts.ts";
import type { Distribution } from "./distribution.ts";
import type { ResourceName } from "../api/pod.ts";
import type { Percentile, ResourceBounds } from "./policy_spec.ts";

/** An amount and how it came about. */
export interface Estimate {
  /** Millicores or bytes; whole from the safety factor on. */
  readonly amount: number;
  /** One phrase for each step, in order; the last is about `amount`. */
  readonly steps: readonly string[];
}

/** Makes an estimate of samples, of which there is one at least. */
export type Estimator = (usage: Distribution) => Estimate;

const FRACTIONS: Readonly<Record<Percentile, number>> = {
  P50: 0.5,
  P90: 0.9,
  P95: 0.95,
  P99: 0.99,
};

/** The percentile of the samples; the window that they are of is for the sentence. */
export function percentileOf(
  { resource, percentile, windowMs }: {
    readonly resource: ResourceName;
    readonly percentile: Percentile;
    readonly windowMs: number;
  },
): Estimator {
  return (usage) => {
    const amount = usage.quantile(FRACTIONS[percentile]);
    const samples = usage.count === 1 ? "sample" : "samples";
    const step = `${percentile} of ${usage.count} ${samples} in ${formatWindow(windowMs)} is ${
      amountText(resource, amount)
    }`;
    return { amount, steps: [step] };
  };
}

const DAY_MS = 86_400_000;

/** Whole days of more than one as such, as policies have them: `7d`. */
function formatWindow(windowMs: number): string {
  const days = windowMs / DAY_MS;
  return Number.isInteger(days) && days > 1 ? `${days}d` : formatDuration(windowMs);
}

/** The base's estimate with another amount, and the phrase for that. */
function withStep({ steps }: Estimate, amount: number, step: string): Estimate {
  return { amount, steps: [...steps, step] };
}

/** The base × factor, truncated to whole millicores or bytes, without loss by binary fractions. */
export function withSafetyFactor(
  base: Estimator,
  { resource, factor }: { readonly resource: ResourceName; readonly factor: number },
): Estimator {
  return (usage) => {
    const estimate = base(usage);
    const amount = truncatedProduct(estimate.amount, factor);
    return withStep(estimate, amount, `times ${factor} is ${amountText(resource, amount)}`);
  };
}

/** The base, moved to the nearer bound if it is outside; inside it is not moved. */
export function withBounds(
  base: Estimator,
  { resource, bounds: { min, max } }: {
    readonly resource: ResourceName;
    readonly bounds: ResourceBounds;
  },
): Estimator {
  const bounds = `bounds ${amountText(resource, min)} to ${amountText(resource, max)}`;
  return (usage) => {
    const estimate = base(usage);
    const { amount } = estimate;
    if (amount < min) return withStep(estimate, min, `raised to the minimum of ${bounds}`);
    if (amount > max) return withStep(estimate, max, `lowered to the maximum of ${bounds}`);
    return withStep(estimate, amount, `within ${bounds}`);
  };
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
   * Millicores that the market's agent saw wanted: `spec.market.demand` of the pod's allocation, which
   * is what its threads would use if nothing held them back, with the agent's headroom. Where a limit
   * runs out all the time that is a trial of at most four times the quota. Absent where no market runs.
   */
  readonly demand?: number;
}

/**
 * Usage as it would have been. A limit cuts off the samples at the top, so with a throttled share s the
 * quantiles below 1 − s are what they were, and those above are known to be too low.
 *
 * Those become the observed demand, if that is more. Without an observation they grow by the factor
 * 1 + s: how much was missing cannot be known, but twice as much is tried at most, and the next window
 * shows whether it was enough.
 */
function uncensored(usage: Distribution, { share, demand }: Throttling): Distribution {
  if (share === 0) return usage;
  return {
    ...usage,
    quantile(fraction) {
      const amount = usage.quantile(fraction);
      if (fraction < 1 - share) return amount;
      return demand === undefined ? amount * (1 + share) : Math.max(amount, demand);
    },
  };
}

/** The base's estimate of what usage would have been; belongs around the percentile alone. */
export function withThrottling(base: Estimator, throttling: Throttling): Estimator {
  return (usage) => {
    const seen = base(usage);
    const { amount } = base(uncensored(usage, throttling));
    if (amount <= seen.amount) return seen;
    const percent = `${Number((100 * throttling.share).toFixed(1))} %`;
    const why = throttling.demand === undefined
      ? "more was wanted, how much is unknown"
      : "the market saw that much wanted";
    const step = `raised to ${
      amountText("cpu", amount)
    } since its limit ran out in ${percent} of the periods (${why})`;
    return withStep(seen, amount, step);
  };
}

/** A kill for lack of memory within the window; older ones are the caller's to forget. */
export interface OOMKill {
  /** Bytes that the container had: its memory limit at that time, or what it requested, 0 if nothing. */
  readonly hadBytes: number;
  /**
   * True where no limit bound it: the node was short. It had what it used then, which is not known; the
   * largest sample stands for that.
   */
  readonly unlimited?: true;
}

/** Raised by as much at least, so that small containers do not take many kills to grow: 100Mi. */
const LEAST_RAISE_BYTES = 100 * 2 ** 20;
const RAISE_FACTOR = 1.2;

/** Bytes after a kill: max(20 %, 100Mi) over what it had. 256Mi becomes 356Mi, 1024Mi 1228.8Mi. */
function raisedAfterOOM(hadBytes: number): number {
  return Math.max(truncatedProduct(hadBytes, RAISE_FACTOR), hadBytes + LEAST_RAISE_BYTES);
}

/** What is raised to so many bytes, rounded down; 0 or less: nothing is. 356Mi comes from 256Mi. */
export function bytesBeforeOOM(raised: number): number {
  return Math.floor(Math.min(raised / RAISE_FACTOR, raised - LEAST_RAISE_BYTES));
}

/**
 * The base, or what is over what the container had when it was killed, if that is more. Samples never
 * show what was missing: none is taken at the moment of a kill, and none can be above the limit. Belongs
 * around the safety factor (the raise is one itself) and inside of the bounds.
 */
export function withOOMRaise(base: Estimator, kills: readonly OOMKill[]): Estimator {
  if (kills.length === 0) return base;
  return (usage) => {
    const estimate = base(usage);
    const had = Math.max(
      ...kills.map(({ hadBytes, unlimited = false }) =>
        unlimited ? Math.max(hadBytes, usage.max) : hadBytes
      ),
    );
    const raised = raisedAfterOOM(had);
    if (had === 0 || estimate.amount >= raised) return estimate;
    const step = `killed for lack of memory at ${amountText("memory", had)}, so raised to ${
      amountText("memory", raised)
    }`;
    return withStep(estimate, raised, step);
  };
}

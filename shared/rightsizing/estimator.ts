/**
 * Estimates of what a container should ask for of one resource: functions that wrap one another, each
 * with one idea, which it tells.
 *
 * @module
 */
import type { ResourceName } from "../api/pod.ts";
import { formatDuration } from "../duration.ts";
import { amountText } from "./amount_text.ts";
import type { Distribution } from "./distribution.ts";
import type { Percentile, ResourceBounds } from "./policy_spec.ts";
import { truncatedProduct } from "./truncated_product.ts";

/** An amount and how it came about. */
export interface Estimate {
  /** Millicores or bytes; whole from the safety factor on. */
  readonly amount: number;
  /** One phrase for each step, in order; the last is about `amount`. */
  readonly told: readonly string[];
}

/** Makes an estimate of samples, of which there is one at least. */
export type Estimator = (usage: Distribution) => Estimate;

const FRACTIONS: Readonly<Record<Percentile, number>> = {
  P50: 0.5,
  P90: 0.9,
  P95: 0.95,
  P99: 0.99,
};

/** What the percentile is of. */
export interface PercentileOptions {
  readonly resource: ResourceName;
  readonly percentile: Percentile;
  /** For the sentence: the window that the samples are of. */
  readonly windowMs: number;
}

/** The percentile of the samples. */
export function percentileOf({ resource, percentile, windowMs }: PercentileOptions): Estimator {
  return (usage) => {
    const amount = usage.quantile(FRACTIONS[percentile]);
    const samples = usage.count === 1 ? "sample" : "samples";
    const told = `${percentile} of ${usage.count} ${samples} in ${formatWindow(windowMs)} is ${
      amountText(resource, amount)
    }`;
    return { amount, told: [told] };
  };
}

const DAY_MS = 86_400_000;

/** Whole days of more than one as such, as policies have them: `7d`. */
function formatWindow(windowMs: number): string {
  const days = windowMs / DAY_MS;
  return Number.isInteger(days) && days > 1 ? `${days}d` : formatDuration(windowMs);
}

/** The base × factor, truncated to whole millicores or bytes, without loss by binary fractions. */
export function withSafetyFactor(
  base: Estimator,
  { resource, factor }: { readonly resource: ResourceName; readonly factor: number },
): Estimator {
  return (usage) => {
    const estimate = base(usage);
    const amount = truncatedProduct(estimate.amount, factor);
    const told = `times ${factor} is ${amountText(resource, amount)}`;
    return { amount, told: [...estimate.told, told] };
  };
}

/** The base, moved to the nearer bound if it is outside; inside it is not moved. */
export function withBounds(
  base: Estimator,
  { resource, bounds }: { readonly resource: ResourceName; readonly bounds: ResourceBounds },
): Estimator {
  const [min, max] = [amountText(resource, bounds.min), amountText(resource, bounds.max)];
  return (usage) => {
    const estimate = base(usage);
    const { amount } = estimate;
    if (amount < bounds.min) {
      return {
        amount: bounds.min,
        told: [...estimate.told, `raised to the minimum of bounds ${min} to ${max}`],
      };
    }
    if (amount > bounds.max) {
      return {
        amount: bounds.max,
        told: [...estimate.told, `lowered to the maximum of bounds ${min} to ${max}`],
      };
    }
    return { amount, told: [...estimate.told, `within bounds ${min} to ${max}`] };
  };
}

/**
 * What a container would have used of CPU if its limit had let it.
 *
 * @module
 */
import { amountText } from "./amount_text.ts";
import type { Distribution } from "./distribution.ts";
import type { Estimator } from "./estimator.ts";

/** How much a limit held back within the window. */
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
 * Those become the observed demand, if that is more. Where nobody observed one they grow by the factor
 * 1 + s: how much was missing cannot be known, but twice as much is tried at most, and the next window
 * shows whether it was enough.
 *
 * Throws a `RangeError` for a share outside of 0..1 and a demand that is no amount.
 */
export function uncensored(
  usage: Distribution,
  { share, demand }: Throttling,
): Distribution {
  if (!(share >= 0 && share <= 1)) {
    throw new RangeError(`Cannot correct for throttling: share is ${share}, expected 0 to 1`);
  }
  if (demand !== undefined && !(demand >= 0 && Number.isFinite(demand))) {
    throw new RangeError(`Cannot correct for throttling: demand is ${demand}, expected at least 0`);
  }
  if (share === 0) return usage;
  const raise = (amount: number): number =>
    demand === undefined ? amount * (1 + share) : Math.max(amount, demand);
  return {
    ...usage,
    max: raise(usage.max),
    quantile(fraction) {
      const amount = usage.quantile(fraction);
      return fraction >= 1 - share ? raise(amount) : amount;
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
    const told = `raised to ${
      amountText("cpu", amount)
    } since its limit ran out in ${percent} of the periods (${why})`;
    return { amount, told: [...seen.told, told] };
  };
}

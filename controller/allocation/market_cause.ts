/**
 * Why the market wants the limits of an allocation.
 *
 * @module
 */
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import { MARKET_REASONS } from "../../shared/api/reasons/market_reasons.ts";
import { type ChangeReason, listedReason } from "../../shared/api/reasons/reasons.ts";

/** The agent's word; an agent of another version may have one that is not known here. */
export function marketCause({ market }: Pick<PodAllocation["spec"], "market">): ChangeReason {
  return market === undefined ? "FirstClearing" : listedReason(MARKET_REASONS, market.reason);
}

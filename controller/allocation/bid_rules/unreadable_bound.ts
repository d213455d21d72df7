/**
 * An object that bounds or holds the pod's limits can't be read: limits stay.
 *
 * @module
 */
import type { BidRule } from "./bid_rule.ts";

/**
 * What bounds the limit is not known then: a raise might be more than namespace or node may have, and
 * a decrease less than a container must have, or an HPA or rollout needs. A VPA might set it itself.
 */
export const unreadableBound: BidRule = ({ unreadable = [] }) =>
  unreadable.map((message) => ({ reason: "UnreadableBound", held: "both", message }));

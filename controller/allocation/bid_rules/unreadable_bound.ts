/**
 * A LimitRange or ResourceQuota of the namespace that can't be read: limits stay.
 *
 * @module
 */
import type { BidRule } from "./bid_rule.ts";

/**
 * What bounds the limit is not known then: a raise might be more than the namespace may have, and a
 * decrease less than a container must have.
 */
export const unreadableBound: BidRule = ({ unreadable = [] }) =>
  unreadable.map((message) => ({ reason: "UnreadableBound", held: "both", message }));

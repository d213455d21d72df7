/**
 * A node that is not Ready, or on its way out: limits stay.
 *
 * @module
 */
import type { BidRule } from "./bid_rule.ts";

/** Holds everything on such a node: what is written there may never be done, or is in vain. */
export const nodeState: BidRule = ({ pod, node }) => {
  if (node === undefined) return [];
  if (!node.ready) {
    return [{ reason: "NodeNotReady", held: "both", message: `${pod.nodeName} is not Ready` }];
  }
  return node.draining === true
    ? [{ reason: "NodeDraining", held: "both", message: `${pod.nodeName} is being drained` }]
    : [];
};

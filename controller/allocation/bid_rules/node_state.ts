/**
 * A node that is not Ready, or on its way out: limits stay.
 *
 * @module
 */
import type { BidRule } from "./bid_rule.ts";

/**
 * A cordon is the beginning of a drain, or it is nothing but a cordon, and pods serve on such a node
 * for weeks. `kubectl drain` leaves no other mark on the node: what is not over after so long, ms, is
 * taken for a cordon.
 */
const DRAIN_MS = 10 * 60_000;

/**
 * Holds everything on a node that is not Ready or will be removed: what is written there may never be
 * done, or has no effect. While a cordoned node may be drained, pods may have more but not less: the
 * load moves, and what they use now says little.
 */
export const nodeState: BidRule = ({ pod, node, nowMs }) => {
  if (node === undefined) return [];
  if (!node.ready) {
    return [{ reason: "NodeNotReady", held: "both", message: `${pod.nodeName} is not Ready` }];
  }
  if (node.draining === true) {
    return [{ reason: "NodeDraining", held: "both", message: `${pod.nodeName} is being drained` }];
  }
  const untilMs = (node.cordonedAtMs ?? -Infinity) + DRAIN_MS;
  if (nowMs >= untilMs) return [];
  const message = `${pod.nodeName} was cordoned less than 10 min ago`;
  return [{ reason: "NodeCordoned", held: "lower", message, untilMs }];
};

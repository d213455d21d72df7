/**
 * The rules of the bids, in the order in which their reasons are published.
 *
 * @module
 */
import type { BidRule } from "./bid_rule.ts";
import { horizontalAutoscaler } from "./horizontal_autoscaler.ts";
import { metricDemand } from "./metric_demand.ts";
import { nodeState } from "./node_state.ts";
import { readiness } from "./readiness.ts";
import { rollout } from "./rollout.ts";
import { systemCritical } from "./system_critical.ts";
import { unreadableBound } from "./unreadable_bound.ts";

/** Those that hold for every pod. */
export const BID_RULES: readonly BidRule[] = [
  nodeState,
  unreadableBound,
  systemCritical,
  readiness,
  rollout,
  horizontalAutoscaler,
  metricDemand,
];

/**
 * A workload that rolls out: its pods' limits are not lowered.
 *
 * @module
 */
import { isRollingOut } from "../../../shared/api/workload.ts";
import type { BidRule } from "./bid_rule.ts";

/** Old and new pods divide the load anew, and new ones warm up: what they use now says little. */
export const rollout: BidRule = ({ workload }) => {
  if (workload === undefined || !isRollingOut(workload.rollout)) return [];
  const { kind, metadata: { name } } = workload;
  // Without numbers: bounds that stay the same are not written again when they change.
  const message = `${kind} ${name} rolls out: its pods are being replaced`;
  return [{ reason: "RolloutInProgress", held: "lower", message }];
};

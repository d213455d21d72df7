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
  const { kind, metadata: { name }, rollout: { updated, wanted } } = workload;
  const message = `${kind} ${name} rolls out: ${updated} of ${wanted} pods are of the new template`;
  return [{ reason: "RolloutInProgress", held: "lower", message }];
};

/**
 * A workload that rolls out: its pods' limits are not lowered.
 *
 * @module
 */
import { isRollingOut } from "../../../shared/api/workload.ts";
import type { BidRule } from "./bid_rule.ts";

/**
 * A Deployment gives up by itself (`spec.progressDeadlineSeconds`, by default this long), the others
 * wait for a pod that never gets Ready for ever.
 */
const STILL_MS = 10 * 60_000;

/**
 * Old and new pods divide the load anew, and new ones warm up: what they use now says little. Once a
 * rollout makes no step any more it says as much as ever.
 */
export const rollout: BidRule = ({ workload, rolloutStillSinceMs, nowMs }) => {
  if (workload === undefined || !isRollingOut(workload.rollout)) return [];
  const { kind, metadata: { name } } = workload;
  // Without numbers: bounds that stay the same are not written again when they change.
  const message = `${kind} ${name} rolls out: its pods are being replaced`;
  const effect = { reason: "RolloutInProgress", held: "lower", message } as const;
  if (kind === "Deployment" || rolloutStillSinceMs === undefined) return [effect];
  const untilMs = rolloutStillSinceMs + STILL_MS;
  return nowMs < untilMs ? [{ ...effect, untilMs }] : [];
};

/**
 * Are the workload's pods about to be others?
 *
 * @module
 */
import { isRollingOut } from "../../api/workload.ts";
import type { GuardVerdict } from "./guard.ts";
import type { RightsizingFacts } from "./rightsizing_facts.ts";

/** Holds while the workload rolls out, and while its rollout is paused. */
export function rolloutHolds({ workload }: RightsizingFacts): GuardVerdict {
  const { kind, metadata: { name }, paused, rollout } = workload;
  if (paused) {
    const message = `the rollout of ${kind} ${name} is paused`;
    return { verdict: "hold", reason: "RolloutPaused", message };
  }
  if (!isRollingOut(rollout)) return undefined;
  const { updated, total } = rollout;
  const message = `${kind} ${name} rolls out: ${updated} of ${total} pods are new`;
  return { verdict: "hold", reason: "RolloutInProgress", message };
}

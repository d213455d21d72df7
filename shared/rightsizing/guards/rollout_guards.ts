/**
 * Guards: are the pods about to be replaced?
 *
 * @module
 */
import { isRollingOut } from "../../api/workload.ts";
import type { WantedResources } from "../../resize/inputs/resources.ts";
import { inPlacePlan } from "./in_place_plan.ts";
import { methodFor } from "./method.ts";
import type { GuardVerdict, RightsizingFacts } from "./rightsizing_facts.ts";

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

/**
 * Reports pods that do not have what the template was given, where nothing replaces them: strategy
 * `OnDelete`, a partition, or a rollout that has given up. It is no hold: pods get it as they are made
 * anew, by whomever.
 */
export function notRolledOut(facts: RightsizingFacts, wanted: WantedResources): GuardVerdict {
  const { workload: { kind, metadata: { name }, rollout }, inForce } = facts;
  if (!rollout.stands || methodFor(facts, wanted) !== "Recreate") return undefined;
  const { pods } = inPlacePlan(facts, inForce);
  const [first] = pods;
  if (first === undefined) return undefined;
  const message = `the template of ${kind} ${name} has values that ${pods.length} pods lack, ` +
    `${first.pod.metadata.name} among them, and nothing replaces them`;
  return { verdict: "note", reason: "NotRolledOut", message };
}

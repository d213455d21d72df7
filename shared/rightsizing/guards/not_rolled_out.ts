/**
 * Has anybody taken over what the template says?
 *
 * @module
 */
import { methodFor } from "../../actuation/methods/choose_method.ts";
import { inPlacePlan } from "../../actuation/methods/in_place_plan.ts";
import type { GuardVerdict } from "./guard.ts";
import type { RightsizingFacts } from "./rightsizing_facts.ts";
import { entriesInForce, wantedOf, type WantedResources } from "./wanted_resources.ts";

/**
 * Tells of pods that do not have what the template was given, where nobody replaces them: strategy
 * `OnDelete`, a partition, or a rollout that has given up. It is no hold: pods get it as they are made
 * anew, by whomever.
 */
export function notRolledOut(facts: RightsizingFacts, wanted: WantedResources): GuardVerdict {
  const { workload: { kind, metadata: { name }, rollout }, inForce } = facts;
  if (!rollout.stands || methodFor(facts, wanted) !== "Recreate") return undefined;
  const { pods } = inPlacePlan(facts, wantedOf(entriesInForce(inForce)));
  const [first] = pods;
  if (first === undefined) return undefined;
  const message = `the template of ${kind} ${name} has values that ${pods.length} pods lack, ` +
    `${first.name} among them, and nobody replaces them`;
  return { verdict: "tell", reason: "NotRolledOut", message };
}

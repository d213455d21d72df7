/**
 * What is to be done so that pods have the values that are in force for their workload: a pod that the
 * webhook has missed, or that was refused a resize when the others got theirs.
 *
 * @module
 */
import { NO_RESOURCES } from "../../shared/api/pod.ts";
import { type PairEntry, pairOf, pairsOf, wantedOf } from "../../shared/resize/inputs/resources.ts";
import {
  decideWanted,
  type RightsizingDecision,
  STRAGGLER_CHAIN,
} from "../../shared/rightsizing/guards/decide_rightsizing.ts";
import { inPlacePlan } from "../../shared/rightsizing/guards/in_place_plan.ts";
import type { RightsizingFacts } from "../../shared/rightsizing/guards/rightsizing_facts.ts";

/** Holds that say that there is nothing new, and nothing against what was decided before. */
const NOTHING_NEW: readonly string[] = ["Cooldown", "RecentlyEdited", "InsufficientSamples"];

/** Whether the pods are to have what is in force for them, and nothing else. */
export function isNothingNew(facts: RightsizingFacts, decision: RightsizingDecision): boolean {
  if (decision.outcome === "apply" || facts.inForce.size === 0) return false;
  return decision.restOnly === true || NOTHING_NEW.includes(decision.reason);
}

/**
 * The decision about stragglers, once the one about the recommendation has held; undefined where
 * nothing is in force, where the hold concerns these values too, or where no pod differs. Neither
 * threshold nor cooldown count: nothing new is decided. All else does. In place only: a straggler is no
 * reason for a rollout, so where that is not open this is what holds, unless a rollout has brought, or
 * brings, these values anyway.
 */
export function retryResize(
  facts: RightsizingFacts,
  decision: RightsizingDecision,
): RightsizingDecision | undefined {
  if (!isNothingNew(facts, decision)) return undefined;
  const { policy } = facts;
  const inPlace = {
    ...facts,
    policy: { ...policy, updateStrategy: { ...policy.updateStrategy, allowRecreate: false } },
  };
  const behind = pairsOf(facts.inForce)
    .filter((entry) => inPlacePlan(facts, wantedOf([entry])).pods.length > 0);
  if (behind.length === 0) return undefined;
  const again = decideWanted(inPlace, wantedOf(behind), { chain: STRAGGLER_CHAIN });
  const isLeft = again.outcome === "hold" && policy.updateStrategy.allowRecreate &&
    behind.every((entry) => isInTemplate(facts, entry));
  return isLeft ? undefined : again;
}

/** Then new pods get them from the template. */
function isInTemplate(
  { workload: { template } }: RightsizingFacts,
  { container, resource, pair: { request, limit } }: PairEntry,
): boolean {
  const written = pairOf(
    template.containers.find(({ name }) => name === container) ?? NO_RESOURCES,
    resource,
  );
  return (request ?? written.request) === written.request &&
    (limit ?? written.limit) === written.limit;
}

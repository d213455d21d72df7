/**
 * What is to be done so that pods have the values that are in force for their workload: a pod that the
 * webhook has missed, or that was refused a resize when the others got theirs.
 *
 * @module
 */
import type { Resources } from "../../shared/api/pod.ts";
import {
  decideWanted,
  type RightsizingDecision,
} from "../../shared/rightsizing/guards/decide_rightsizing.ts";
import type { RightsizingFacts } from "../../shared/rightsizing/guards/rightsizing_facts.ts";
import {
  type PairEntry,
  pairOf,
  RESOURCE_NAMES,
  wantedOf,
} from "../../shared/rightsizing/guards/wanted_resources.ts";

/** Holds that say that there is nothing new, and nothing against what was decided before. */
const NOTHING_NEW: readonly string[] = ["Cooldown", "InsufficientSamples"];

/** Whether the pods are to have what is in force for them, and nothing else. */
export function isNothingNew(facts: RightsizingFacts, decision: RightsizingDecision): boolean {
  if (decision.outcome === "apply" || facts.inForce.size === 0) return false;
  return decision.restOnly === true || NOTHING_NEW.includes(decision.reason);
}

/**
 * The decision about stragglers, once the one about the recommendation has held; undefined where
 * nothing is in force, where the hold concerns these values too, or where no pod differs. Neither
 * threshold nor cooldown count: nothing new is decided. All else does.
 */
export function bringToForce(
  facts: RightsizingFacts,
  decision: RightsizingDecision,
): RightsizingDecision | undefined {
  if (!isNothingNew(facts, decision)) return undefined;
  if (!facts.policy.updateStrategy.allowInPlaceResize) return undefined;
  const { lastAppliedMs: _any, policy, ...rest } = facts;
  // In place only: a straggler is no reason for a rollout.
  const inPlace = { ...policy.updateStrategy, changeThresholdPercent: 0, allowRecreate: false };
  const again = decideWanted(
    { ...rest, policy: { ...policy, updateStrategy: inPlace } },
    wantedOf([...facts.inForce].flatMap(([container, values]) => entriesOf(container, values))),
  );
  return again.outcome === "apply" ? again : undefined;
}

function entriesOf(container: string, values: Resources): readonly PairEntry[] {
  return RESOURCE_NAMES.map((resource) => ({
    container,
    resource,
    pair: pairOf(values, resource),
  }));
}

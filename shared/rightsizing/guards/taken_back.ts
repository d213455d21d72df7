/**
 * Has somebody undone what was written into the template?
 *
 * @module
 */
import { methodFor } from "../../actuation/methods/choose_method.ts";
import { isWorth } from "./change_threshold.ts";
import { type GuardVerdict, withoutPairs } from "./guard.ts";
import type { RightsizingFacts } from "./rightsizing_facts.ts";
import {
  formatAmount,
  pairOf,
  type ResourcePair,
  type WantedResources,
} from "./wanted_resources.ts";

/**
 * Leaves out what was written into the template before, is not there any more, and would hardly differ
 * if it were written again: a tool that applies manifests takes it back each time, and each time is a
 * rollout, or two. What is recommended anew by more than the policy's threshold is tried once more.
 */
export function takenBack(facts: RightsizingFacts, wanted: WantedResources): GuardVerdict {
  const { recreated, workload, policy } = facts;
  if (recreated === undefined || methodFor(facts, wanted) !== "Recreate") return undefined;
  const percent = policy.updateStrategy.changeThresholdPercent;
  return withoutPairs(wanted, "TakenBack", {
    against({ container, resource, pair }) {
      const written = pairOf(recreated.get(container) ?? {}, resource);
      const present = workload.template.containers.find(({ name }) => name === container);
      const now = pairOf(present ?? {}, resource);
      if (!differs(written, now)) return undefined;
      if (isWorth(written.request, pair.request, { percent })) return undefined;
      if (isWorth(written.limit, pair.limit, { percent })) return undefined;
      const amount = formatAmount(resource, written.request ?? written.limit ?? 0);
      return `${container} ${resource} ${amount} was written into the template and is not there any more`;
    },
  });
}

/** Of what was written: what was left as it was may be anything. */
function differs(written: ResourcePair, now: ResourcePair): boolean {
  return (written.request !== undefined && written.request !== now.request) ||
    (written.limit !== undefined && written.limit !== now.limit);
}

/**
 * Guards: is the change large enough, and has the last one had its time?
 *
 * @module
 */
import { withoutPairs } from "../../resize/run_checks.ts";
import {
  formatAmount,
  type PairEntry,
  pairOf,
  type WantedResources,
} from "../../resize/inputs/resources.ts";
import { containersWanted, type Subject } from "../../resize/inputs/subject.ts";
import { methodFor } from "./method.ts";
import type { GuardVerdict, RightsizingFacts } from "./rightsizing_facts.ts";
import { presentSubjects } from "./subjects.ts";

/**
 * Leaves out a resource of a container that differs by less than the policy's percentage of what is
 * there, in its request and in its limit. What is there already is left out whatever the percentage is,
 * and what is not there at all is worth having. Where values of the resource are in force, they are what
 * is there: a pod that does not have them yet is to get them, and nothing new is decided for its sake.
 * Otherwise, it is what each pod has, and what those to come will have.
 */
export function belowThreshold(facts: RightsizingFacts, wanted: WantedResources): GuardVerdict {
  const percent = facts.policy.updateStrategy.changeThresholdPercent;
  const method = methodFor(facts, wanted);
  const all = presentSubjects(facts, method);
  const adopted = method === "Recreate" ? all : newPods(all);
  const differs = ({ container, resource }: PairEntry): boolean => {
    const { request, limit } = pairOf(facts.inForce.get(container) ?? {}, resource);
    const subjects = request === undefined && limit === undefined ? all : adopted;
    return subjects.some((subject) => {
      const index = subject.containers.findIndex(({ name }) => name === container);
      const present = pairOf(subject.containers[index] ?? {}, resource);
      const after = pairOf(containersWanted(subject, wanted)[index] ?? {}, resource);
      return isWorth(present.request, after.request, { percent }) ||
        isWorth(present.limit, after.limit, { percent });
    });
  };
  const verdict = withoutPairs(wanted, "BelowThreshold", {
    against: (entry) =>
      differs(entry) ? undefined : `${amountText(entry)} differs by less than ${percent} %`,
  });
  if (verdict?.verdict !== "clamp" || verdict.wanted.size > 0) return verdict;
  const { reason, message } = verdict;
  return { verdict: "hold", reason, message, yields: true };
}

/** Those to come get what is in force, and the template's values where nothing is. */
function newPods(subjects: readonly Subject[]): readonly Subject[] {
  return subjects.filter(({ nodeName }) => nodeName === undefined);
}

function amountText(entry: PairEntry): string {
  const { container, resource, pair: { request, limit } } = entry;
  return `${container} ${resource} ${formatAmount(resource, request ?? limit ?? 0)}`;
}

/** |to − from| ≥ percent of `from`, and there is a difference at all. */
export function isWorth(
  from: number | undefined,
  to: number | undefined,
  { percent }: { readonly percent: number },
): boolean {
  if (to === undefined || to === from) return false;
  return from === undefined || Math.abs(to - from) * 100 >= percent * from;
}

/**
 * Holds for the rest of the policy's cooldown. A last change in the future, after a clock was set back,
 * says nothing: waiting for it could take hours.
 */
export function coolingDown(
  { nowMs, lastAppliedMs, policy: { updateStrategy: { cooldownMs } } }: RightsizingFacts,
): GuardVerdict {
  if (lastAppliedMs === undefined || lastAppliedMs > nowMs) return undefined;
  const restMs = lastAppliedMs + cooldownMs - nowMs;
  if (restMs <= 0) return undefined;
  return {
    verdict: "hold",
    reason: "Cooldown",
    message: `the next change may come in ${Math.ceil(restMs / 1000)} s`,
    retryAfterMs: restMs,
  };
}

/**
 * Guards: is the change large enough, and has the last one had its time?
 *
 * @module
 */
import { NO_RESOURCES } from "../../api/pod.ts";
import { withoutPairs } from "../../resize/run_checks.ts";
import {
  formatAmount,
  pair,
  type PairEntry,
  pairOf,
  type ResourcePair,
  type WantedResources,
} from "../../resize/inputs/resources.ts";
import { containersWanted, type Subject } from "../../resize/inputs/subject.ts";
import { timeText } from "../workload_record.ts";
import { loweredTo } from "./memory_decrease.ts";
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
    const { request, limit } = pairOf(facts.inForce.get(container) ?? NO_RESOURCES, resource);
    const subjects = request === undefined && limit === undefined ? all : adopted;
    return subjects.some((subject) => {
      const index = subject.containers.findIndex(({ name }) => name === container);
      const present = pairOf(subject.containers[index] ?? NO_RESOURCES, resource);
      const after = pairOf(containersWanted(subject, wanted)[index] ?? NO_RESOURCES, resource);
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
 * Leaves a request or limit of a container alone that would be lowered, where its author has edited the
 * resource within the window or the cooldown, counted from when the last pod from before was there: what
 * was seen is what the version of before used, and a release that needs more must not be pushed down to
 * it. A limit where there was none lowers it, too. Raises pass, each half of a pair by itself: a raised
 * request does not wait for a limit that would come with it.
 */
export function recentlyEdited(facts: RightsizingFacts, wanted: WantedResources): GuardVerdict {
  const { nowMs, remembered = [], policy: { windowMs, updateStrategy: { cooldownMs } } } = facts;
  if (remembered.length === 0) return undefined;
  const subjects = presentSubjects(facts, methodFor(facts, wanted));
  return withoutPairs(wanted, "RecentlyEdited", {
    against({ container, resource, pair }) {
      const memory = remembered.find((one) => one.container === container);
      const known = memory?.editedAtMs[resource];
      if (known === undefined) return undefined;
      const untilMs = known + Math.max(windowMs, cooldownMs);
      if (nowMs >= untilMs) return undefined;
      const present = subjects.flatMap(({ containers }) =>
        containers.filter(({ name }) => name === container).map((one) => pairOf(one, resource))
      );
      const isLowered = (half: ResourcePair): boolean =>
        present.some((one) => loweredTo(one, half) < Infinity);
      const [lowered, rest] = partition(pair, isLowered);
      const { request, limit = request } = lowered;
      if (limit === undefined) return undefined;
      const isRolledOut = memory?.oldBeforeMs?.[resource] === undefined;
      const since = isRolledOut ? `since ${timeText(known)}` : "than pods from before may have";
      const what = request === undefined ? `${resource} limit` : resource;
      const problem = `${container} ${what} to ${formatAmount(resource, request ?? limit)}: the ` +
        `template has other ${resource} values ${since}, nothing of them is ` +
        `lowered before ${timeText(untilMs)}`;
      return { problem, rest };
    },
  });
}

/** Those halves of the pair of which it is true, and the others. */
function partition(
  { request, limit }: ResourcePair,
  is: (half: ResourcePair) => boolean,
): readonly [ResourcePair, ResourcePair] {
  const [isRequest, isLimit] = [is(pair(request, undefined)), is(pair(undefined, limit))];
  return [
    pair(isRequest ? request : undefined, isLimit ? limit : undefined),
    pair(isRequest ? undefined : request, isLimit ? undefined : limit),
  ];
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

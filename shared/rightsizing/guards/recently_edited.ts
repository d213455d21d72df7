/**
 * Has the author just said what a container is to have?
 *
 * @module
 */
import { methodFor } from "../../actuation/methods/choose_method.ts";
import { type GuardVerdict, withoutPairs } from "./guard.ts";
import { loweredTo } from "./memory_decrease.ts";
import type { RightsizingFacts } from "./rightsizing_facts.ts";
import { presentSubjects } from "./subjects.ts";
import { formatAmount, pairOf, type WantedResources } from "./wanted_resources.ts";

/**
 * Leaves a resource of a container alone that would be lowered, where its author has edited it within the
 * window or the cooldown, counted from when the last pod from before was there: what was seen is what the version of before used, and a release that needs more
 * must not be pushed down to it. Raises pass.
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
      const isRolledOut = memory?.oldBeforeMs?.[resource] === undefined;
      const since = isRolledOut ? `since ${timeText(known)}` : "than pods from before may have";
      const lowered = subjects.map(({ containers }) => {
        const present = containers.find(({ name }) => name === container);
        return present === undefined ? Infinity : loweredTo(pairOf(present, resource), pair);
      });
      const least = Math.min(...lowered);
      if (least === Infinity) return undefined;
      return `${container} ${resource} to ${
        formatAmount(resource, least)
      }: the template has other ` +
        `${resource} values ${since}, nothing of them is lowered before ` +
        timeText(untilMs);
    },
  });
}

function timeText(ms: number): string {
  return new Date(ms).toISOString();
}

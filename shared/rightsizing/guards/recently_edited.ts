/**
 * Has the author just said what a container is to have?
 *
 * @module
 */
import { methodFor } from "../../actuation/methods/choose_method.ts";
import { timeText } from "../workload_record.ts";
import { type GuardVerdict, withoutPairs } from "./guard.ts";
import { loweredTo } from "./memory_decrease.ts";
import type { RightsizingFacts } from "./rightsizing_facts.ts";
import { presentSubjects } from "./subjects.ts";
import {
  formatAmount,
  pair,
  pairOf,
  type ResourcePair,
  type WantedResources,
} from "./wanted_resources.ts";

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

/**
 * Would less memory kill somebody?
 *
 * @module
 */
import { methodFor } from "../../actuation/methods/choose_method.ts";
import { type GuardVerdict, withoutPairs } from "./guard.ts";
import type { RightsizingFacts } from "./rightsizing_facts.ts";
import { presentSubjects } from "./subjects.ts";
import {
  formatAmount,
  type PairEntry,
  pairOf,
  type ResourcePair,
  type WantedResources,
} from "./wanted_resources.ts";

/** What there must be above the recent peak, percent of it. */
const MARGIN_PERCENT = 15;

/**
 * Leaves the memory of a container alone that would be lowered below its recent peak + 15 %. Below its
 * limit the kernel kills it; below its request the kubelet evicts it before others when the node runs
 * short. A limit where there was none lowers it, too. Where the peak is not known, no decrease is safe.
 * A peak of 500 MiB lets memory go down to 575 MiB.
 */
export function unsafeMemoryDecrease(
  facts: RightsizingFacts,
  wanted: WantedResources,
): GuardVerdict {
  const subjects = presentSubjects(facts, methodFor(facts, wanted));
  return withoutPairs(wanted, "UnsafeMemoryDecrease", {
    against: ({ container, resource, pair: asked }: PairEntry) => {
      if (resource !== "memory") return undefined;
      const peak = facts.memoryPeaks.get(container);
      const least = peak === undefined ? Infinity : leastSafeMemory(peak);
      for (const { containers } of subjects) {
        const present = containers.find(({ name }) => name === container);
        if (present === undefined) continue;
        const lowered = loweredTo(pairOf(present, "memory"), asked);
        if (lowered >= least) continue;
        const to = `${container} to ${formatAmount("memory", lowered)}`;
        return peak === undefined
          ? `${to}: its recent peak is not known`
          : `${to}: its recent peak was ${formatAmount("memory", peak)}, and the least safe ` +
            `value is ${formatAmount("memory", least)}`;
      }
      return undefined;
    },
  });
}

/** The least memory that is safe beside this peak, bytes: computed in whole numbers. */
export function leastSafeMemory(peak: number): number {
  return Math.ceil(peak * (100 + MARGIN_PERCENT) / 100);
}

/** The least value that is lower than what is there; Infinity where none is. */
export function loweredTo(present: ResourcePair, { request, limit }: ResourcePair): number {
  const lowered = [
    request !== undefined && request < (present.request ?? 0) ? request : Infinity,
    limit !== undefined && limit < (present.limit ?? Infinity) ? limit : Infinity,
  ];
  return Math.min(...lowered);
}

/**
 * What bounds the values of a workload in its namespace.
 *
 * @module
 */

import { type LimitRange, type ResourceQuota, unreadableWords } from "../api/namespace.ts";
import { resourceRangesOf } from "../resize/checks/limit_range.ts";
import type { RightsizingFacts } from "./guards/rightsizing_facts.ts";
import { type CountedWorkload, quotaRoomsOf } from "./quota_rooms.ts";

/** What bounds a namespace. */
export interface NamespaceBounds {
  readonly limitRanges: readonly LimitRange[];
  readonly quotas: readonly ResourceQuota[];
}

/**
 * What the guards ask of the namespace's LimitRanges and quotas, with a sentence for each LimitRange that
 * can't be read: it must not pass for one that bounds nothing.
 */
export function namespaceRules(
  { limitRanges, quotas }: NamespaceBounds,
  counted: CountedWorkload,
): Pick<RightsizingFacts, "ranges" | "quotas" | "unreadable"> {
  const ranges = resourceRangesOf(limitRanges);
  return {
    ...(ranges === undefined ? {} : { ranges }),
    quotas: quotaRoomsOf(quotas, counted),
    unreadable: unreadableWords("LimitRange", limitRanges),
  };
}

/**
 * Check: do requests stay within their limits?
 *
 * @module
 */
import {
  formatAmount,
  pair,
  type PairEntry,
  pairOf,
  pairsOf,
  RESOURCE_NAMES,
  sumOf,
  wantedOf,
  type WantedResources,
} from "../inputs/resources.ts";
import { containersWanted, pairIn, type Subject, subjectWanted } from "../inputs/subject.ts";

/**
 * The wanted values with each request capped at the smallest limit that the subjects would have. A limit
 * that is wanted without a request is at least the present request.
 */
export function capRequests(
  wanted: WantedResources,
  subjects: readonly Subject[],
): WantedResources {
  const changed = subjects.map((subject) => subjectWanted(subject, wanted));
  return wantedOf(
    pairsOf(wanted).map((entry): PairEntry => {
      const { request, limit } = entry.pair;
      if (request === undefined) {
        const requests = subjects.map((subject) => pairIn(subject, entry)?.request ?? 0);
        return limit === undefined
          ? entry
          : { ...entry, pair: pair(request, Math.max(limit, ...requests)) };
      }
      const limits = changed.map((subject) => pairIn(subject, entry)?.limit ?? Infinity);
      return { ...entry, pair: pair(Math.min(request, ...limits), limit) };
    }),
  );
}

/** Why the values violate pod-level resources, which bound the sum of requests and each limit. */
export function podLevelProblem(subject: Subject, wanted: WantedResources): string | undefined {
  const { podLevel, name } = subject;
  if (podLevel === undefined) return undefined;
  const after = containersWanted(subject, wanted);
  for (const resource of RESOURCE_NAMES) {
    const whole = pairOf(podLevel, resource);
    const most = whole.request ?? whole.limit ?? Infinity;
    const sum = sumOf(after, ({ requests }) => requests[resource]);
    if (sum > most) {
      return `${name} as a whole requests ${formatAmount(resource, most)} of ${resource}, its ` +
        `containers would request ${formatAmount(resource, sum)}`;
    }
    const above = after.find(({ limits }) => (limits[resource] ?? 0) > (whole.limit ?? Infinity));
    if (above !== undefined) {
      return `${name} as a whole has a limit of ${formatAmount(resource, whole.limit ?? 0)} of ` +
        `${resource}, container ${above.name} would have more`;
    }
  }
  return undefined;
}

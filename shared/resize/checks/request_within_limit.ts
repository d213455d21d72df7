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
import { containersWanted, type Subject } from "../inputs/subject.ts";

/**
 * The wanted values with each request at most the least limit that any of the subjects would have. A
 * limit without a request is at least the request that stays.
 */
export function capRequests(
  wanted: WantedResources,
  subjects: readonly Subject[],
): WantedResources {
  return wantedOf(
    pairsOf(wanted).map((entry): PairEntry => {
      const { request, limit } = entry.pair;
      if (request === undefined) {
        const least = Math.max(0, ...subjects.map((subject) => requestOf(subject, entry)));
        return limit === undefined
          ? entry
          : { ...entry, pair: pair(request, Math.max(limit, least)) };
      }
      const most = Math.min(...subjects.map((subject) => limitAfter(subject, { wanted, entry })));
      return { ...entry, pair: pair(Math.min(request, most), limit) };
    }),
  );
}

function requestOf({ containers }: Subject, { container, resource }: PairEntry): number {
  return containers.find(({ name }) => name === container)?.requests[resource] ?? 0;
}

interface Asked {
  readonly wanted: WantedResources;
  readonly entry: PairEntry;
}

/** Infinity where the container has no limit, or is not there. */
function limitAfter(subject: Subject, { wanted, entry }: Asked): number {
  const after = containersWanted(subject, wanted).find(({ name }) => name === entry.container);
  return after?.limits[entry.resource] ?? Infinity;
}

/** What pod-level resources have against the values: they bound the sum of requests, and each limit. */
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

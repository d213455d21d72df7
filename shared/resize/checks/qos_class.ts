/**
 * Check: does the pod keep its QoS class?
 *
 * @module
 */
import type { QOSClass } from "../../api/pod.ts";
import type { Verdict } from "../run_checks.ts";
import { movesRequest, qosClassOfPod } from "../inputs/qos.ts";
import {
  describeCut,
  pair,
  type PairEntry,
  pairOf,
  pairsOf,
  RESOURCE_NAMES,
  wantedOf,
  type WantedResources,
} from "../inputs/resources.ts";
import { containersWanted, type Subject, subjectWanted } from "../inputs/subject.ts";
import { capRequests } from "./request_within_limit.ts";

/**
 * Changes the wanted values so that each subject keeps its class. In a Guaranteed pod request and limit
 * become the lower of the two, or both stay; in a Burstable pod with requests that would all equal
 * their limits one request stays a unit below. `problem`: the class would change all the same.
 */
function keepClass(
  wanted: WantedResources,
  subjects: readonly Subject[],
): { readonly wanted: WantedResources; readonly cuts: readonly string[] } | {
  readonly problem: string;
} {
  const cuts: string[] = [];
  let keeping = wanted;
  if (subjects.some(movesRequest)) {
    const whole = wantedOf(pairsOf(keeping).filter(isWhole));
    cuts.push(
      ...pairsOf(keeping).filter((entry) => !isWhole(entry)).map(({ container, resource }) =>
        `request and limit of ${container} ${resource} would have to move together, as in any ` +
        "Guaranteed pod, and only one of them may"
      ),
    );
    const equal = wantedOf(pairsOf(whole).map(equalPair));
    const cut = describeCut(whole, equal);
    if (cut !== "") cuts.push(`limits of Guaranteed pods are their requests: ${cut}`);
    keeping = equal;
  }
  for (const subject of subjects) {
    const after = classWith(subject, capRequests(keeping, subjects));
    if (after === subject.qosClass) continue;
    const below = after === "Guaranteed" ? withRequestBelowLimit(subject, keeping) : undefined;
    if (below === undefined || classWith(subject, below) !== subject.qosClass) {
      return { problem: `${subject.name} would turn from ${subject.qosClass} to ${after}` };
    }
    cuts.push(`${subject.name} would turn Guaranteed: ${describeCut(keeping, below)}`);
    keeping = below;
  }
  return { wanted: keeping, cuts };
}

/** The class that the subject would have with the wanted values. */
export function classWith(subject: Subject, wanted: WantedResources): QOSClass {
  return qosClassOfPod(subjectWanted(subject, wanted));
}

function isWhole({ pair: { request, limit } }: PairEntry): boolean {
  return request !== undefined && limit !== undefined;
}

/** Both values at the lower one; a pair with one value stays as it is. */
function equalPair(entry: PairEntry): PairEntry {
  const { request, limit } = entry.pair;
  if (request === undefined || limit === undefined) return entry;
  const both = Math.min(request, limit);
  return { ...entry, pair: pair(both, both) };
}

/** The wanted values with the first request that would equal its limit a unit lower; undefined: none. */
function withRequestBelowLimit(
  subject: Subject,
  wanted: WantedResources,
): WantedResources | undefined {
  const after = containersWanted(subject, capRequests(wanted, [subject]));
  for (const resource of RESOURCE_NAMES) {
    for (const container of after) {
      const { request = 0, limit = 0 } = pairOf(container, resource);
      const asked = wanted.get(container.name)?.requests[resource];
      if (asked === undefined || request !== limit || request < 2) continue;
      return wantedOf(
        pairsOf(wanted).map((entry) =>
          entry.container === container.name && entry.resource === resource
            ? { ...entry, pair: pair(request - 1, entry.pair.limit) }
            : entry
        ),
      );
    }
  }
  return undefined;
}

/** Clamps to values that keep the class of all subjects, or holds: the API refuses another class. */
export function classVerdict(
  wanted: WantedResources,
  subjects: readonly Subject[],
): Verdict<"QoSWouldChange"> {
  const kept = keepClass(wanted, subjects);
  const reason = "QoSWouldChange";
  if ("problem" in kept) return { verdict: "hold", reason, message: kept.problem };
  if (kept.cuts.length === 0) return undefined;
  const message = kept.cuts.join("; ");
  return { verdict: "clamp", reason, message, wanted: kept.wanted };
}

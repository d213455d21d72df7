/**
 * Do the namespace's LimitRanges allow the values?
 *
 * @module
 */
import { wouldWriteDefaults } from "../../actuation/checks/limit_range_defaults.ts";
import type { CPURange } from "../../actuation/cpu_range.ts";
import { methodFor } from "../../actuation/methods/choose_method.ts";
import { podTotal } from "../../actuation/pod_total.ts";
import { rangeProblem } from "../../actuation/range_problem.ts";
import type { ResourceName } from "../distribution.ts";
import { cutValues, describeCut } from "./cut_values.ts";
import type { GuardVerdict } from "./guard.ts";
import type { ResourceRanges, RightsizingFacts } from "./rightsizing_facts.ts";
import { containersWanted, fittedSubjects, type Subject } from "./subjects.ts";
import {
  fieldOf,
  formatAmount,
  pair,
  PAIR_SIDES,
  type PairEntry,
  pairOf,
  pairsOf,
  RESOURCE_NAMES,
  type ResourcePair,
  wantedOf,
  type WantedResources,
} from "./wanted_resources.ts";

/**
 * Clamps each value into the ranges, and holds where a pod would lie outside of them all the same: the
 * server looks at every container and init container again. It also holds where a resize would let the
 * server write a LimitRange's defaults into a pod.
 */
export function outsideRanges(facts: RightsizingFacts, wanted: WantedResources): GuardVerdict {
  const { ranges } = facts;
  if (ranges === undefined || wanted.size === 0) return undefined;
  const method = methodFor(facts, wanted);
  const defaults = method === "InPlace" ? defaultsProblem(facts, ranges) : undefined;
  if (defaults !== undefined) {
    return { verdict: "hold", reason: "LimitRange", message: defaults };
  }
  const subjects = fittedSubjects(facts, method);
  const inside = wantedOf(pairsOf(wanted).map((entry) => clamped(entry, { ranges, subjects })));
  const fitting = subjects.reduce((rest, subject) => fitPod(rest, { ranges, subject }), inside);
  for (const subject of subjects) {
    const problem = problemOf(subject, { ranges, wanted: fitting });
    if (problem !== undefined) {
      return { verdict: "hold", reason: "LimitRange", message: `${subject.name}: ${problem}` };
    }
  }
  const words = describeCut(wanted, fitting);
  if (words === "") return undefined;
  const message = `the LimitRange allows no more, or no less: ${words}`;
  return { verdict: "clamp", reason: "LimitRange", message, wanted: fitting };
}

function defaultsProblem(
  { pods }: RightsizingFacts,
  { defaults, cpu = { container: ANYTHING, pod: ANYTHING } }: ResourceRanges,
): string | undefined {
  if (defaults === undefined) return undefined;
  const check = wouldWriteDefaults("LimitRange");
  for (const pod of pods) {
    const verdict = check({ pod, limitRange: { ...cpu, defaults } });
    if (verdict !== undefined) return `pod ${pod.metadata.name}: ${verdict.message}`;
  }
  return undefined;
}

const ANYTHING: CPURange = { min: 0, max: Infinity, ratio: Infinity };

interface Bounded {
  readonly ranges: ResourceRanges;
  readonly subjects: readonly Subject[];
}

/** The pair inside of the container's range; a ratio cuts a wanted limit, or raises the request to one that stays. */
function clamped(entry: PairEntry, { ranges, subjects }: Bounded): PairEntry {
  const range = ranges[entry.resource]?.container;
  if (range === undefined) return entry;
  const into = (value: number): number => Math.min(Math.max(value, range.min), range.max);
  const { request, limit } = entry.pair;
  if (request === undefined) {
    return { ...entry, pair: pair(request, limit === undefined ? limit : into(limit)) };
  }
  const staying = limit !== undefined ? 0 : Math.max(
    0,
    ...subjects.map((subject) => presentPair(subject, entry).limit ?? 0),
  );
  const least = range.ratio === Infinity ? 0 : Math.ceil(staying / range.ratio);
  const fits = into(Math.max(request, least));
  const most = range.ratio === Infinity ? Infinity : Math.floor(range.ratio * fits);
  return { ...entry, pair: pair(fits, limit === undefined ? limit : Math.min(into(limit), most)) };
}

function presentPair(
  { containers }: Subject,
  { container, resource }: Pick<PairEntry, "container" | "resource">,
): ResourcePair {
  const present = containers.find(({ name }) => name === container);
  return present === undefined ? {} : pairOf(present, resource);
}

/** Raises cut to what the range allows the pod as a whole. */
function fitPod(
  wanted: WantedResources,
  { ranges, subject }: { readonly ranges: ResourceRanges; readonly subject: Subject },
): WantedResources {
  let fitting = wanted;
  for (const resource of RESOURCE_NAMES) {
    for (const side of PAIR_SIDES) {
      const max = ranges[resource]?.pod.max ?? Infinity;
      const total = podTotal(
        { ...subject, containers: containersWanted(subject, fitting) },
        fieldOf(resource, side),
      ) ?? 0;
      const base = (container: string): number =>
        presentPair(subject, { container, resource })[side] ?? 0;
      fitting = cutValues(fitting, { resource, side, excess: total - max, base });
    }
  }
  return fitting;
}

interface Asked {
  readonly ranges: ResourceRanges;
  readonly wanted: WantedResources;
}

/** Why the server would refuse the subject with these values; undefined when it would not. */
function problemOf(subject: Subject, { ranges, wanted }: Asked): string | undefined {
  const after = { ...subject, containers: containersWanted(subject, wanted) };
  const all = [
    ...after.containers.map((one) => [`container ${one.name}`, one] as const),
    ...after.initContainers.map((one) => [`init container ${one.name}`, one] as const),
  ];
  for (const resource of RESOURCE_NAMES) {
    const range = ranges[resource];
    if (range === undefined) continue;
    const format = (amount: number): string => formatOf(resource, amount);
    for (const [who, container] of all) {
      const { request, limit } = pairOf(container, resource);
      const problem = rangeProblem(range.container, { request, limit }, { format });
      if (problem !== undefined) return `${resource} of ${who}: ${problem}`;
    }
    const problem = rangeProblem(range.pod, {
      request: podTotal(after, fieldOf(resource, "request")),
      limit: podTotal(after, fieldOf(resource, "limit")),
    }, { format });
    if (problem !== undefined) return `${resource} of all containers: ${problem}`;
  }
  return undefined;
}

/** Ratios may come to fractions of a byte. */
function formatOf(resource: ResourceName, amount: number): string {
  return formatAmount(resource, Math.floor(amount));
}

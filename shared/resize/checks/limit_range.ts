/**
 * Check: do the namespace's LimitRanges allow the values?
 *
 * @module
 */
import type { LimitRange, LimitRangeBounds, LimitRangeItem } from "../../api/namespace.ts";
import type { Pod, PodContainer, ResourceName, Resources } from "../../api/pod.ts";
import { defined } from "../../defined.ts";
import type { Verdict } from "../run_checks.ts";
import { cutRaises } from "../inputs/cut_raises.ts";
import type { AmountRange, AmountRanges, ResourceRanges } from "../inputs/resize_input.ts";
import {
  describeCut,
  formatAmount,
  pair,
  type PairEntry,
  pairOf,
  pairsOf,
  podPhases,
  podTotal,
  RESOURCE_NAMES,
  RESOURCE_SIDES,
  sumOf,
  wantedOf,
  type WantedResources,
} from "../inputs/resources.ts";
import { pairIn, type Subject, subjectWanted } from "../inputs/subject.ts";

const ANYTHING: AmountRange = { min: 0, max: Infinity, ratio: Infinity };

/**
 * The LimitRanges combined; undefined where none bounds CPU or memory, or has defaults. A LimitRange that
 * can't be read counts as one without bounds: `unreadableMessages()` reports it.
 */
export function resourceRangesOf(limitRanges: readonly LimitRange[]): ResourceRanges | undefined {
  const items = limitRanges.flatMap((one) => one.items);
  const memory = items.flatMap(({ type, memory }) =>
    memory === undefined ? [] : { type, ...memory }
  );
  const defaults = new Set(items.flatMap((item) => Object.keys(item.defaults ?? {})));
  const ranges = defined({
    cpu: tightest(
      items.filter(({ min, max, ratio }) => [min, max, ratio].some((one) => one !== undefined)),
    ),
    memory: tightest(memory),
    defaults: defaults.size === 0 ? undefined : [...defaults].sort(),
  });
  return Object.keys(ranges).length === 0 ? undefined : ranges;
}

/** The tightest bounds of one resource, for containers and for pods. */
function tightest(
  items: readonly (LimitRangeBounds & Pick<LimitRangeItem, "type">)[],
): AmountRanges | undefined {
  if (items.length === 0) return undefined;
  const rangeOf = (type: LimitRangeItem["type"]): AmountRange =>
    items.filter((item) => item.type === type).reduce((range, { min, max, ratio }) => ({
      min: Math.max(range.min, min ?? 0),
      max: Math.min(range.max, max ?? Infinity),
      ratio: Math.min(range.ratio, ratio ?? Infinity),
    }), ANYTHING);
  return { container: rangeOf("Container"), pod: rangeOf("Pod") };
}

/** The largest limit that a range allows beside this request, whole units or Infinity. */
export function largestLimit({ max, ratio }: AmountRange, request: number): number {
  // Without a request the ratio can't be computed, and the server refuses whatever the limit is.
  return ratio === Infinity ? max : Math.min(max, Math.floor(ratio * request));
}

/**
 * The largest total that the range of pods allows on this side; for limits, with the pod's requests.
 * Infinity where a pod-level value is the total, since no container's value changes that.
 */
export function largestTotal(
  pod: Pick<Pod, "containers" | "initContainers" | "podLevel">,
  { range, resource, side }: {
    readonly range: AmountRange;
    readonly resource: ResourceName;
    readonly side: keyof Resources;
  },
): number {
  if (pod.podLevel?.[side][resource] !== undefined) return Infinity;
  if (side === "requests") return range.max;
  return largestLimit(range, podTotal(pod, ({ requests }) => requests[resource]) ?? 0);
}

/**
 * Clamps each value into the ranges, and holds where a pod would still violate them: the server checks
 * all containers and init containers, so that a pod older than a LimitRange can make each resize fail.
 */
export function rangeVerdict(
  wanted: WantedResources,
  { ranges, subjects, step = 1 }: {
    readonly ranges: ResourceRanges | undefined;
    /** One at least; the values must fit each of them. */
    readonly subjects: readonly Subject[];
    /** Raises are cut to a multiple of this. @default {1} */
    readonly step?: number;
  },
): Verdict<"LimitRange"> {
  if (ranges === undefined || wanted.size === 0) return undefined;
  let fitting = wantedOf(pairsOf(wanted).map((entry) => clamped(entry, { ranges, subjects })));
  for (const subject of subjects) fitting = fitPod(fitting, { ranges, subject, step });
  const reason = "LimitRange";
  for (const subject of subjects) {
    const problem = problemOf(subject, { ranges, wanted: fitting });
    if (problem !== undefined) {
      return { verdict: "hold", reason, message: `${subject.name}: ${problem}` };
    }
  }
  const cut = describeCut(wanted, fitting);
  if (cut === "") return undefined;
  const message = `the LimitRange allows no more, or no less: ${cut}`;
  return { verdict: "clamp", reason, message, wanted: fitting };
}

/**
 * The pair clamped into the container's range. For the ratio it lowers a wanted limit, or raises the
 * request where the limit is not wanted.
 */
function clamped(
  entry: PairEntry,
  { ranges, subjects }: { readonly ranges: ResourceRanges; readonly subjects: readonly Subject[] },
): PairEntry {
  const range = ranges[entry.resource]?.container;
  if (range === undefined) return entry;
  const into = (value: number): number => Math.min(Math.max(value, range.min), range.max);
  const { request, limit } = entry.pair;
  const present = subjects.flatMap((subject) => pairIn(subject, entry) ?? []);
  if (request === undefined) {
    if (limit === undefined) return entry;
    const most = Math.min(...present.map((one) => largestLimit(range, one.request ?? 0)));
    return { ...entry, pair: pair(request, Math.min(into(limit), most)) };
  }
  const staying = limit !== undefined ? 0 : Math.max(0, ...present.map((one) => one.limit ?? 0));
  const least = range.ratio === Infinity ? 0 : Math.ceil(staying / range.ratio);
  const fits = into(Math.max(request, least));
  return {
    ...entry,
    pair: pair(fits, limit && Math.min(into(limit), largestLimit(range, fits))),
  };
}

/** Cuts raises to the range of pods, for each group of containers that run at the same time. */
function fitPod(wanted: WantedResources, { ranges, subject, step }: {
  readonly ranges: ResourceRanges;
  readonly subject: Subject;
  readonly step: number;
}): WantedResources {
  let fitting = wanted;
  for (const resource of RESOURCE_NAMES) {
    const range = ranges[resource]?.pod;
    if (range === undefined) continue;
    for (const side of RESOURCE_SIDES) {
      const base = (container: string): number =>
        subject.containers.find(({ name }) => name === container)?.[side][resource] ?? 0;
      for (const index of podPhases(subject).keys()) {
        const after = subjectWanted(subject, fitting);
        const phase = podPhases(after)[index] ?? [];
        const excess = sumOf(phase, (one) => one[side][resource]) -
          largestTotal(after, { range, resource, side });
        fitting = cutRaises(fitting, { resource, side, base, excess, step, among: phase });
      }
    }
  }
  return fitting;
}

/** Why the server would refuse the subject with these values; undefined when it would not. */
function problemOf(
  subject: Subject,
  { ranges, wanted }: { readonly ranges: ResourceRanges; readonly wanted: WantedResources },
): string | undefined {
  const after = subjectWanted(subject, wanted);
  for (const resource of RESOURCE_NAMES) {
    const range = ranges[resource];
    if (range === undefined) continue;
    const total = pair(
      podTotal(after, ({ requests }) => requests[resource]),
      podTotal(after, ({ limits }) => limits[resource]),
    );
    const pairs = [
      ...labelled(after).map(([label, one]) =>
        [label, range.container, pairOf(one, resource)] as const
      ),
      ["all containers", range.pod, total] as const,
    ];
    for (const [label, range, pair] of pairs) {
      const problem = rangeProblem(range, { resource, pair });
      if (problem !== undefined) return `${resource} of ${label}: ${problem}`;
    }
  }
  return undefined;
}

/** All containers, as messages name them. */
function labelled(
  { containers, initContainers }: Pick<Pod, "containers" | "initContainers">,
): readonly (readonly [label: string, PodContainer])[] {
  return [
    ...containers.map((one) => [`container ${one.name}`, one] as const),
    ...initContainers.map((one) => [`init container ${one.name}`, one] as const),
  ];
}

/**
 * Why the server would refuse these amounts; undefined when it would not. As `minConstraint`,
 * `maxConstraint` and `limitRequestRatioConstraint` of the server.
 */
function rangeProblem(
  range: AmountRange,
  { resource, pair: { request, limit } }: Pick<PairEntry, "resource" | "pair">,
): string | undefined {
  // A ratio may give a fraction of a byte.
  const text = (amount: number): string => formatAmount(resource, Math.floor(amount));
  const none = "the LimitRange asks for a request, there is none";
  if (request === undefined && (range.min > 0 || range.ratio < Infinity)) return none;
  if (limit === undefined && (range.max < Infinity || range.ratio < Infinity)) {
    return "the LimitRange asks for a limit, there is none";
  }
  const most = largestLimit(range, request ?? 0);
  // A ratio can't be computed without a request, and a limit below the request is none.
  if (most < 1) return none;
  const refuses = (amount: string): string =>
    `the LimitRange allows a limit of ${text(most)}, ${amount}`;
  if (request !== undefined && request > most) {
    return refuses(`the request is ${text(request)} already`);
  }
  if (limit !== undefined && limit > most) return refuses(`it would be ${text(limit)}`);
  const least = Math.min(request ?? Infinity, limit ?? Infinity);
  return least < range.min
    ? `the LimitRange asks for ${text(range.min)}, it would be ${text(least)}`
    : undefined;
}

/**
 * A message about the defaults that the server would write with any resize: it adds those of a LimitRange
 * to all containers of a pod that is older, and no resize can remove a request or limit. Undefined
 * where it would write none.
 */
export function defaultsProblem(
  pod: Pick<Pod, "containers" | "initContainers">,
  ranges: ResourceRanges | undefined,
): string | undefined {
  const written = labelled(pod).flatMap(([label, container]) => {
    const missing = (ranges?.defaults ?? []).filter((name) => !has(container, name));
    return missing.length === 0 ? [] : [`${label} (${missing.join(", ")})`];
  });
  return written.length === 0 ? undefined : "with any resize the API server would write the " +
    `LimitRange's defaults into ${written.join(", ")}, and they could never be removed: recreate ` +
    "the pod, or take the defaults out of the LimitRange (max and min set them, too)";
}

function has(container: PodContainer, name: string): boolean {
  const isGiven = RESOURCE_SIDES.some((side) =>
    RESOURCE_NAMES.some((one) => name === `${side}.${one}` && container[side][one] !== undefined)
  );
  return isGiven || (container.otherResources?.includes(name) ?? false);
}

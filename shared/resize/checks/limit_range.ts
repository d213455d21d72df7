/**
 * Check: do the namespace's LimitRanges allow the values?
 *
 * @module
 */
import type { LimitRange, LimitRangeBounds, LimitRangeItem } from "../../api/limit_range.ts";
import type { Pod, PodContainer } from "../../api/pod.ts";
import type { EnforcementReason } from "../../api/reasons/enforcement_reasons.ts";
import type { PodFacts, Verdict, WantedLimits } from "../check.ts";
import { cutRaises } from "../cut_raises.ts";
import { podPhases, podTotal, sumOf } from "../resources.ts";
import { containersWith, movesRequest } from "./qos_class.ts";

/** A range of requests and limits: of CPU in millicores, of memory in bytes. */
export interface CPURange {
  /** 0 when there is none. */
  readonly min: number;
  /** Infinity when there is none. */
  readonly max: number;
  /** The largest limit / request; Infinity when there is none. */
  readonly ratio: number;
}

/** The ranges of a namespace, for each container and for the sums of a pod. */
export interface CPURanges {
  readonly container: CPURange;
  readonly pod: CPURange;
  /**
   * What the server writes at each resize into every container that lacks it, as `limits.<resource>`
   * and `requests.<resource>`; absent: nothing.
   */
  readonly defaults?: readonly string[];
}

const ANYTHING: CPURange = { min: 0, max: Infinity, ratio: Infinity };

function narrowed(range: CPURange, { min, max, ratio }: LimitRangeBounds): CPURange {
  return {
    min: Math.max(range.min, min ?? 0),
    max: Math.min(range.max, max ?? Infinity),
    ratio: Math.min(range.ratio, ratio ?? Infinity),
  };
}

/** All LimitRanges together, since each one counts; undefined when none bounds CPU or has defaults. */
export function cpuRangesOf(limitRanges: readonly LimitRange[]): CPURanges | undefined {
  const items = limitRanges.flatMap((one) => one.items).filter(concernsCPU);
  if (items.length === 0) return undefined;
  const defaults = new Set(items.flatMap((item) => Object.keys(item.defaults ?? {})));
  return {
    ...rangesOf(items),
    ...(defaults.size === 0 ? {} : { defaults: [...defaults].sort() }),
  };
}

/** An item that has defaults concerns each resize, whatever they are of. */
function concernsCPU({ min, max, ratio, defaults }: LimitRangeItem): boolean {
  return [min, max, ratio, defaults].some((one) => one !== undefined);
}

/** What is said of one resource. */
export interface TypedBounds extends LimitRangeBounds, Pick<LimitRangeItem, "type"> {}

/** The tightest of all bounds of one resource, for containers and pods apart. */
export function rangesOf(items: readonly TypedBounds[]): Pick<CPURanges, "container" | "pod"> {
  const of = (type: LimitRangeItem["type"]): CPURange =>
    items.filter((item) => item.type === type).reduce(narrowed, ANYTHING);
  return { container: of("Container"), pod: of("Pod") };
}

/** Options of {@linkcode largestLimit}. */
export interface LargestLimitOptions {
  /**
   * True where the request goes with the limit: then their ratio is 1, the least that a range asks for.
   *
   * @default {false}
   */
  readonly moves?: boolean;
}

/** The largest limit that a range allows beside this request, whole millicores or Infinity. */
export function largestLimit(
  { max, ratio }: CPURange,
  request: number,
  { moves = false }: LargestLimitOptions = {},
): number {
  // Without a request the ratio can't be computed, and the server refuses whatever the limit is.
  return Math.min(max, moves || ratio === Infinity ? Infinity : Math.floor(ratio * request));
}

/** What a container or pod asks for, in the unit of the range; absent is not 0. */
export interface Sizes {
  readonly request: number | undefined;
  readonly limit: number | undefined;
}

/** Options of {@linkcode rangeProblem}. */
export interface RangeProblemOptions {
  /**
   * An amount in words.
   *
   * @default millicores
   */
  readonly format?: (amount: number) => string;
}

/**
 * Why the server would refuse these sizes; undefined when it would not. As `minConstraint`,
 * `maxConstraint` and `limitRequestRatioConstraint` of the server.
 */
export function rangeProblem(
  range: CPURange,
  { request, limit }: Sizes,
  { format = (amount) => `${amount}m` }: RangeProblemOptions = {},
): string | undefined {
  if (request === undefined && (range.min > 0 || range.ratio < Infinity)) {
    return "the LimitRange asks for a request, there is none";
  }
  if (limit === undefined && (range.max < Infinity || range.ratio < Infinity)) {
    return "the LimitRange asks for a limit, there is none";
  }
  const most = largestLimit(range, request ?? 0);
  // A ratio can't be computed without a request, and a limit below the request is none.
  if (most < 1) return "the LimitRange asks for a request, there is none";
  if (request !== undefined && request > most) {
    return `the LimitRange allows a limit of ${format(most)}, the request is ${
      format(request)
    } already`;
  }
  if (limit !== undefined && limit > most) {
    return `the LimitRange allows a limit of ${format(most)}, it would be ${format(limit)}`;
  }
  const least = Math.min(request ?? Infinity, limit ?? Infinity);
  if (least < range.min) {
    return `the LimitRange asks for ${format(range.min)}, it would be ${format(least)}`;
  }
  return undefined;
}

/**
 * Clamps each limit into the ranges, and holds where the pod would lie outside of them all the
 * same: the server checks every container and init container of the pod again, so a pod that is older
 * than a LimitRange can make each resize fail.
 */
export function outsideLimitRange(
  { pod, limitRange }: PodFacts,
  limits: WantedLimits,
): Verdict {
  if (pod === undefined || limitRange === undefined) return undefined;
  const { container: range } = limitRange;
  const moves = movesRequest(pod);
  const clamped = new Map<string, number>();
  for (const [name, limit] of limits) {
    const { requestCPU = 0 } = pod.containers.find((one) => one.name === name) ?? {};
    const most = largestLimit(range, requestCPU, { moves });
    clamped.set(name, Math.min(Math.max(limit, range.min), most));
  }
  const fitting = fitPod(pod, clamped, limitRange.pod);
  const problem = problemOf(pod, { limits: fitting, limitRange });
  if (problem !== undefined) return { verdict: "hold", reason: "LimitRange", message: problem };
  const outside = [...limits].filter(([name, limit]) => fitting.get(name) !== limit);
  if (outside.length === 0) return undefined;
  const names = outside.map(([name, limit]) => `${name} at ${limit}m`).join(", ");
  return {
    verdict: "clamp",
    reason: "LimitRange",
    message: `the LimitRange allows no more, or no less: ${names}`,
    limits: fitting,
  };
}

/** The raises cut, phase by phase, to what the range allows the pod. */
function fitPod(pod: Pod, limits: WantedLimits, range: CPURange): WantedLimits {
  // What the pod says as a whole is what counts then, and no container's limit changes it.
  if (pod.podLevel?.limitCPU !== undefined) return limits;
  const most = largestLimit(range, podTotal(pod, "requestCPU") ?? 0, { moves: movesRequest(pod) });
  const fitting = new Map(limits);
  for (const phase of podPhases(pod)) {
    const theirs = phase.flatMap(({ name }): [string, number][] => {
      const limit = fitting.get(name);
      return limit === undefined ? [] : [[name, limit]];
    });
    const room = most - sumOf(phase, "limitCPU");
    for (const [name, limit] of cutRaises(pod, new Map(theirs), { room })) fitting.set(name, limit);
  }
  return fitting;
}

interface Asked {
  readonly limits: WantedLimits;
  readonly limitRange: CPURanges;
}

/** Why the server would refuse the pod with these limits; undefined when it would not. */
function problemOf(pod: Pod, { limits, limitRange }: Asked): string | undefined {
  const after = { ...pod, containers: containersWith(pod, limits) };
  const all = [
    ...after.containers.map((one) => [`container ${one.name}`, one] as const),
    ...pod.initContainers.map((one) => [`init container ${one.name}`, one] as const),
  ];
  for (const [who, { requestCPU: request, limitCPU: limit }] of all) {
    const problem = rangeProblem(limitRange.container, { request, limit });
    if (problem !== undefined) return `${who}: ${problem}`;
  }
  const problem = rangeProblem(limitRange.pod, {
    request: podTotal(after, "requestCPU"),
    limit: podTotal(after, "limitCPU"),
  });
  return problem === undefined ? undefined : `the pod: ${problem}`;
}

/**
 * Holds where it would, with this reason. The server does so at each resize, whatever is asked for, in
 * all containers and init containers of a pod that is older than the LimitRange; and the API lets
 * nobody remove a request or limit.
 */
export function wouldWriteDefaults(
  reason: EnforcementReason,
): (facts: PodFacts) => Verdict {
  return ({ pod, limitRange }) => {
    if (pod === undefined || limitRange?.defaults === undefined) return undefined;
    const written = writtenInto(pod, limitRange.defaults);
    if (written.length === 0) return undefined;
    return {
      verdict: "hold",
      reason,
      message: `with any resize the API server would write the LimitRange's defaults into ` +
        `${written.join(", ")}, and they could never be removed: recreate the pod, or take the ` +
        "defaults out of the LimitRange (max and min set them, too)",
    };
  };
}

function writtenInto(
  { containers, initContainers }: Pod,
  defaults: NonNullable<CPURanges["defaults"]>,
): readonly string[] {
  const lacks = (kind: string, container: PodContainer): string[] => {
    const missing = defaults.filter((name) => !has(container, name));
    return missing.length === 0 ? [] : [`${kind} ${container.name} (${missing.join(", ")})`];
  };
  return [
    ...containers.flatMap((one) => lacks("container", one)),
    ...initContainers.flatMap((one) => lacks("init container", one)),
  ];
}

function has(container: PodContainer, name: string): boolean {
  switch (name) {
    case "limits.cpu":
      return container.limitCPU !== undefined;
    case "requests.cpu":
      return container.requestCPU !== undefined;
    case "limits.memory":
      return container.limitMemory !== undefined;
    case "requests.memory":
      return container.requestMemory !== undefined;
    default:
      return container.otherResources?.includes(name) ?? false;
  }
}

/**
 * What the LimitRanges of a namespace come to.
 *
 * @module
 */
import type { LimitRange, LimitRangeBounds, LimitRangeItem } from "../api/namespace.ts";

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

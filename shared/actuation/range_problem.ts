/**
 * What a LimitRange has against a container or a pod.
 *
 * @module
 */
import { type CPURange, largestLimit } from "./cpu_range.ts";

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

/**
 * Do the namespace's LimitRanges allow the limits?
 *
 * @module
 */
import type { Pod } from "../../api/pod.ts";
import type { PodFacts, Verdict, WantedLimits } from "../check.ts";
import { type CPURange, type CPURanges, largestLimit } from "../cpu_range.ts";
import { cutRaises } from "../cut_raises.ts";
import { containersWith, movesRequest } from "../moved_request.ts";

/**
 * Clamps each limit into the ranges, and holds where the pod would lie outside of them all the
 * same: the server checks every container of the pod again, so a pod that is older than a LimitRange
 * can make each resize fail.
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
  const fitting = cutRaises(pod, clamped, { room: podRoom(pod, limitRange.pod) });
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

function sumOf(pod: Pod, field: "requestCPU" | "limitCPU"): number {
  return pod.containers.reduce((sum, container) => sum + (container[field] ?? 0), 0);
}

/** By how much the pod's total may grow; below 0 when it is too large already. */
function podRoom(pod: Pod, range: CPURange): number {
  const most = largestLimit(range, sumOf(pod, "requestCPU"), { moves: movesRequest(pod) });
  return most - sumOf(pod, "limitCPU");
}

interface Asked {
  readonly limits: WantedLimits;
  readonly limitRange: CPURanges;
}

/** Why the server would refuse the pod with these limits; undefined when it would not. */
function problemOf(pod: Pod, { limits, limitRange }: Asked): string | undefined {
  const containers = containersWith(pod, limits);
  for (const { name, requestCPU = 0, limitCPU } of containers) {
    const problem = outside(limitRange.container, { request: requestCPU, limit: limitCPU ?? 0 });
    if (problem !== undefined) return `container ${name}: ${problem}`;
  }
  const after = { ...pod, containers };
  const total = { request: sumOf(after, "requestCPU"), limit: sumOf(after, "limitCPU") };
  const problem = outside(limitRange.pod, total);
  return problem === undefined ? undefined : `the pod: ${problem}`;
}

function outside(
  range: CPURange,
  { request, limit }: { readonly request: number; readonly limit: number },
): string | undefined {
  const most = largestLimit(range, request);
  // A ratio can't be computed without a request, and a limit below the request is none.
  if (most < 1) return "the LimitRange asks for a request, there is none";
  if (request > most) {
    return `the LimitRange allows a limit of ${most}m, the request is ${request}m already`;
  }
  if (limit > most) return `the LimitRange allows a limit of ${most}m, it would be ${limit}m`;
  const least = Math.min(request, limit);
  if (least < range.min) return `the LimitRange asks for ${range.min}m, it would be ${least}m`;
  return undefined;
}

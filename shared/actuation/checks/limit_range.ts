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
import { podPhases, podTotal, sumOf } from "../pod_total.ts";
import { rangeProblem } from "../range_problem.ts";

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

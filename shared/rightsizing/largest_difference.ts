/**
 * How far a workload is from what it should ask for.
 *
 * @module
 */
import type { Resources } from "../api/pod.ts";
import type { ContainerRecommendation } from "./recommendation.ts";

/** A container as it is. */
export interface PresentContainer extends Resources {
  readonly name: string;
}

/**
 * The largest difference between a request and what is recommended, as a part of the request: 0.5 for
 * 100m where 150m is recommended. Infinity where there is no request, 0 where nothing is recommended.
 */
export function largestDifference(
  recommendations: readonly ContainerRecommendation[],
  present: readonly PresentContainer[],
): number {
  const byName = new Map(present.map((container) => [container.name, container]));
  return Math.max(
    0,
    ...recommendations.flatMap(({ container, cpu, memory }) => {
      const { requestCPU, requestMemory } = byName.get(container) ?? {};
      return [difference(requestCPU, cpu), difference(requestMemory, memory)];
    }),
  );
}

function difference(from: number | undefined, to: number): number {
  if (from === undefined || from === 0) return to === 0 ? 0 : Infinity;
  return Math.abs(to - from) / from;
}

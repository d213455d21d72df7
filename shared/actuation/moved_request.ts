/**
 * Requests that move with their limits.
 *
 * @module
 */
import type { Pod, PodContainer } from "../api/pod.ts";
import type { WantedLimits } from "./check.ts";

/** What tells whether a pod's requests move. */
export type RequestMover = Pick<Pod, "qosClass" | "podLevel">;

/**
 * True for a pod whose CPU requests are always equal to its limits: the API refuses a resize that
 * would let a Guaranteed pod leave its class. So a wanted limit is a wanted request, too. Where
 * pod-level resources make the class, the containers' have no part in it.
 */
export function movesRequest({ qosClass, podLevel }: RequestMover): boolean {
  return qosClass === "Guaranteed" && podLevel === undefined;
}

/** The pod's containers as these limits make them; each has its place in the pod. */
export function containersWith(pod: Pod, limits: WantedLimits): readonly PodContainer[] {
  const moves = movesRequest(pod);
  return pod.containers.map((container) => {
    const limitCPU = limits.get(container.name);
    if (limitCPU === undefined) return container;
    return { ...container, limitCPU, ...(moves ? { requestCPU: limitCPU } : {}) };
  });
}

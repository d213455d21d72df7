/**
 * The QoS class of a pod, as the API server computes it.
 *
 * @module
 */
import type { Pod, QOSClass, Resources } from "../../api/pod.ts";

/**
 * Guaranteed when every container (init containers too) has CPU and memory limits and requests
 * equal to them, BestEffort when none has any, Burstable otherwise.
 * Source: Kubernetes documentation, "Pod Quality of Service Classes".
 */
export function qosClassOf(containers: readonly Resources[]): QOSClass {
  const given = containers.flatMap(({ requests, limits }) => [
    ...[requests.cpu, limits.cpu, requests.memory, limits.memory],
  ]);
  if (given.every((value) => (value ?? 0) === 0)) return "BestEffort";
  const guaranteed = containers.every(({ requests, limits }) =>
    (limits.cpu ?? 0) > 0 && (limits.memory ?? 0) > 0 && requests.cpu === limits.cpu &&
    requests.memory === limits.memory
  );
  return guaranteed ? "Guaranteed" : "Burstable";
}

/**
 * The class of a pod as a whole: where it has pod-level resources, they alone decide.
 * Source: `ComputePodQOS` of Kubernetes 1.34 and newer.
 */
export function qosClassOfPod(
  { containers, initContainers, podLevel }: {
    readonly containers: readonly Resources[];
    readonly initContainers: readonly Resources[];
    readonly podLevel?: Pod["podLevel"];
  },
): QOSClass {
  return qosClassOf(podLevel === undefined ? [...containers, ...initContainers] : [podLevel]);
}

/** The fields that {@linkcode movesRequest} reads. */
export type RequestMover = Pick<Pod, "qosClass" | "podLevel">;

/**
 * True for a pod with CPU requests that move with its limits: the API refuses a resize that takes a
 * Guaranteed pod out of its class, so that the two stay equal. Not where pod-level resources make the
 * class, since then containers' requests and limits do not count for it.
 */
export function movesRequest({ qosClass, podLevel }: RequestMover): boolean {
  return qosClass === "Guaranteed" && podLevel === undefined;
}

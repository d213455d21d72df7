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

/** The members that decide whether a pod's requests move. */
export type RequestMover = Pick<Pod, "qosClass" | "podLevel">;

/**
 * True for a pod with CPU requests that are always equal to its limits: the API refuses a resize that
 * would let a Guaranteed pod leave its class. So a wanted limit is a wanted request, too. Where
 * pod-level resources make the class, the containers' have no part in it.
 */
export function movesRequest({ qosClass, podLevel }: RequestMover): boolean {
  return qosClass === "Guaranteed" && podLevel === undefined;
}

/**
 * The QoS class of a pod, as the API server computes it.
 *
 * @module
 */
import type { PodContainer, QOSClass } from "../api/pod.ts";

/** The resources that decide. */
export type Resources = Pick<
  PodContainer,
  "requestCPU" | "limitCPU" | "requestMemory" | "limitMemory"
>;

/**
 * Guaranteed when every container (init containers too) has CPU and memory limits and requests
 * equal to them, BestEffort when none has any, Burstable otherwise.
 * Source: Kubernetes documentation, "Pod Quality of Service Classes".
 */
export function qosClassOf(containers: readonly Resources[]): QOSClass {
  const values = (container: Resources): (number | undefined)[] => [
    container.requestCPU,
    container.limitCPU,
    container.requestMemory,
    container.limitMemory,
  ];
  if (containers.every((container) => values(container).every((value) => (value ?? 0) === 0))) {
    return "BestEffort";
  }
  const guaranteed = containers.every(({ requestCPU, limitCPU, requestMemory, limitMemory }) =>
    (limitCPU ?? 0) > 0 && (limitMemory ?? 0) > 0 && requestCPU === limitCPU &&
    requestMemory === limitMemory
  );
  return guaranteed ? "Guaranteed" : "Burstable";
}

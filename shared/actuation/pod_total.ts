/**
 * What a pod comes to where LimitRanges count it (`podRequests` and `podLimits` of the server's
 * LimitRanger).
 *
 * @module
 */
import type { Pod, PodContainer, Resources } from "../api/pod.ts";

/** What is added up. */
export type TotalField = keyof Resources;

/**
 * Those that run at the same time: containers and sidecars, and each other init container with the
 * sidecars before it. The pod's total is the largest of their sums.
 */
export function podPhases(
  { containers, initContainers }: Pick<Pod, "containers" | "initContainers">,
): readonly (readonly PodContainer[])[] {
  const sidecars = containers.filter(({ sidecar }) => sidecar);
  const inits = initContainers.map((one) => [one, ...sidecars.slice(0, one.sidecarsBefore ?? 0)]);
  return [containers, ...inits];
}

/** Σ of those that have a value. */
export function sumOf(containers: readonly PodContainer[], field: TotalField): number {
  return containers.reduce((sum, container) => sum + (container[field] ?? 0), 0);
}

/**
 * The pod's total, millicores or bytes; undefined where no container has a value. What the pod says as a whole
 * stands for it.
 */
export function podTotal(
  pod: Pick<Pod, "containers" | "initContainers" | "podLevel">,
  field: TotalField,
): number | undefined {
  const ofPod = pod.podLevel?.[field];
  if (ofPod !== undefined) return ofPod;
  const phases = podPhases(pod);
  if (!phases.some((phase) => phase.some((one) => one[field] !== undefined))) return undefined;
  return Math.max(...phases.map((phase) => sumOf(phase, field)));
}

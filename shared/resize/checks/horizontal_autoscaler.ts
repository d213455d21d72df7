/**
 * Check: does a HorizontalPodAutoscaler divide usage by the request?
 *
 * @module
 */
import { HPA_COORDINATION } from "../../api/market_keys.ts";
import type { HorizontalPodAutoscaler, MemoryTarget } from "../../api/autoscalers.ts";
import type { ResourceName } from "../../api/pod.ts";
import { switchValue } from "../inputs/switches.ts";

/** An object with annotations. */
export interface Annotated {
  readonly metadata: { readonly annotations: Readonly<Record<string, string>> };
}

/** Objects that may have the annotation: the pod's takes precedence, then the workload's. */
export interface CoordinationObjects {
  readonly pod: Annotated;
  readonly workload: Annotated | undefined;
  readonly autoscaler: Annotated;
}

/** False where the first of them that has the annotation has `"false"`. */
export function heedsAutoscaler({ pod, workload, autoscaler }: CoordinationObjects): boolean {
  const values = [pod, workload, autoscaler].map((one) =>
    switchValue(one?.metadata.annotations ?? {}, HPA_COORDINATION)
  );
  return values.find((value) => value !== undefined) !== "false";
}

/**
 * What of the resource's usage an HPA divides by the request. With another request it would see another
 * utilization for the same load, and scale.
 */
export function dividedByRequest(
  { cpuTargets, memoryTargets = [] }: HorizontalPodAutoscaler,
  resource: ResourceName,
): readonly MemoryTarget[] {
  if (resource === "memory") return memoryTargets;
  return cpuTargets.filter(({ utilization }) => utilization !== undefined);
}

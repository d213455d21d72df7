/**
 * Check: does a VerticalPodAutoscaler set these resources, or a HorizontalPodAutoscaler divide by the request?
 *
 * @module
 */
import { HPA_COORDINATION } from "../../api/market_keys.ts";
import type {
  HorizontalPodAutoscaler,
  MemoryTarget,
  VerticalPodAutoscaler,
} from "../../api/autoscalers.ts";
import type { ResourceName } from "../../api/pod.ts";
import { switchValue, type Texts } from "../../api/object.ts";

/** The entry for all containers that have none of their own. */
const ALL_OTHERS = "*";

/**
 * True when it acts and controls the CPU of one of these containers. One that sets memory alone, or
 * with the policy `Off` for each of them, leaves CPU to others. Source: VPA's `GetUpdateMode` and
 * `GetContainerResourcePolicy` (pkg/utils/vpa/api.go).
 */
export function setsCPU(
  { updateMode, cpuPolicies = [] }: Pick<VerticalPodAutoscaler, "updateMode" | "cpuPolicies">,
  containers: readonly string[],
): boolean {
  if (updateMode === "Off") return false;
  return containers.some((name) => {
    const policy = cpuPolicies.find(({ container }) => container === name) ??
      cpuPolicies.findLast(({ container }) => container === ALL_OTHERS);
    return policy?.controlled ?? true;
  });
}

/**
 * The VPA that sets the resource of one of the containers, in a sentence; undefined: none. The policies
 * for memory are not read, so any VPA in a mode other than `Off` sets it.
 */
export function vpaConflict(
  verticalAutoscalers: readonly VerticalPodAutoscaler[],
  { containers, resource }: {
    readonly containers: readonly string[];
    readonly resource: ResourceName;
  },
): string | undefined {
  const acting = verticalAutoscalers.find((one) =>
    resource === "cpu" ? setsCPU(one, containers) : one.updateMode !== "Off"
  );
  if (acting === undefined) return undefined;
  const { target: { kind, name }, updateMode, metadata } = acting;
  return `VPA ${metadata.name}, mode ${updateMode}, sets the resources of ${kind} ${name}`;
}

/** An object with annotations. */
export interface Annotated {
  readonly metadata: { readonly annotations: Texts };
}

/** False where the first of pod, workload and HPA that has the annotation has `"false"`. */
export function heedsAutoscaler({ pod, workload, autoscaler }: {
  readonly pod: Annotated;
  readonly workload: Annotated | undefined;
  readonly autoscaler: Annotated;
}): boolean {
  const values = [pod, workload, autoscaler].map((one) =>
    switchValue(one?.metadata.annotations ?? {}, HPA_COORDINATION)
  );
  return values.find((value) => value !== undefined) !== "false";
}

/**
 * The HPA's targets for the resource's usage divided by the request. With another request it would see
 * another utilization for the same load, and scale.
 */
export function dividedByRequest(
  { cpuTargets, memoryTargets = [] }: HorizontalPodAutoscaler,
  resource: ResourceName,
): readonly MemoryTarget[] {
  if (resource === "memory") return memoryTargets;
  return cpuTargets.filter(({ utilization }) => utilization !== undefined);
}

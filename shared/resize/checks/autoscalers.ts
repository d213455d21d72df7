/**
 * Check: does a VPA set these resources, or an HPA divide by the request?
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

/** The policy of containers that have none of their own. */
const ALL_OTHERS = "*";

/**
 * True when the VPA sets the CPU of one of these containers, by its mode and the containers' policies.
 * Source: VPA's `GetUpdateMode` and `GetContainerResourcePolicy` (pkg/utils/vpa/api.go).
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
 * A message about the VPA that sets the resource of one of the containers; undefined: none. Policies for
 * memory are not read: any VPA in a mode other than `Off` counts as setting it.
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

/** False where the annotation is `"false"` on the pod, else on the workload, else on the HPA. */
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
 * The HPA's targets for utilization: the resource's usage divided by the request. With another request
 * the utilization changes for the same load, so that the HPA scales.
 */
export function dividedByRequest(
  { cpuTargets, memoryTargets = [] }: HorizontalPodAutoscaler,
  resource: ResourceName,
): readonly MemoryTarget[] {
  if (resource === "memory") return memoryTargets;
  return cpuTargets.filter(({ utilization }) => utilization !== undefined);
}

/**
 * Check: does a VerticalPodAutoscaler set these resources?
 *
 * @module
 */
import type { VerticalPodAutoscaler } from "../../api/autoscalers.ts";
import type { ResourceName } from "../../api/pod.ts";

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
 * What sets the resource of one of the containers, in a sentence; undefined: nothing. The policies for
 * memory are not read, so any VPA in a mode other than `Off` sets it.
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

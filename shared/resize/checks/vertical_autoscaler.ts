/**
 * Check: does a VerticalPodAutoscaler set these resources?
 *
 * @module
 */
import type { VerticalPodAutoscaler } from "../../api/vertical_pod_autoscaler.ts";

/** The entry for all containers that have none of their own. */
const ALL_OTHERS = "*";

/**
 * True when it acts and controls the CPU of one of these containers. One that sets memory alone, or
 * whose policy is `Off` for each of them, leaves CPU to others. Source: VPA's `GetUpdateMode` and
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

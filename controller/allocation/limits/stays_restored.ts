/**
 * Was the pod given its own limits back, as far as the API's objects tell?
 *
 * @module
 */
import type { Pod } from "../../../shared/api/pod.ts";
import type { PodAllocation } from "../../../shared/api/pod_allocation.ts";
import { formatCPU } from "../../../shared/quantity.ts";
import { RESTORE_MANAGER } from "../../../shared/resize/original_limits.ts";

/**
 * True for an allocation whose pod has its own limits back: the status says so, or the last controller
 * ended between its patch and the status, so that the limit's manager says so alone. What the agent
 * wanted before that does not count until the agent clears again.
 */
export function staysRestored(pod: Pod, { spec, status }: PodAllocation): boolean {
  if (status?.reason === "Restored") return true;
  return pod.containers.some(({ name, limitCPU, limitManagers = [] }) => {
    if (limitCPU === undefined || !limitManagers.includes(RESTORE_MANAGER)) return false;
    const limit = formatCPU(limitCPU);
    const told = status?.containers?.find((one) => one.name === name)?.cpuLimit;
    // The market may want the user's own value, too.
    const wanted = spec.containers?.find((one) => one.name === name)?.cpuLimit;
    return told !== undefined && told !== limit && wanted !== limit;
  });
}

/**
 * The allocations, where their resource is still there.
 *
 * @module
 */
import { ApiError } from "../../../shared/api/api_error.ts";
import type { PodAllocation } from "../../../shared/api/pod_allocation.ts";
import type { ClusterReader } from "../ports.ts";

/**
 * Of a namespace, or of all. None where the CustomResourceDefinition is gone: it was deleted before
 * its pods were restored, and their owners' templates may still have their limits.
 */
export async function allocationsOnRecord(
  reader: Pick<ClusterReader, "allocations">,
  namespace?: string,
): Promise<readonly PodAllocation[]> {
  try {
    return await reader.allocations(namespace);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return [];
    throw error;
  }
}

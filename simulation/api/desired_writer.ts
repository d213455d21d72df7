/**
 * The agent's writes of what the clearing decided, on the simulated API.
 *
 * @module
 */
import type { DesiredWriter } from "../../agent/ports.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import { objectKey } from "../../shared/control/object_key.ts";
import type { ApiAccess } from "./api_access.ts";
import { mergePatch } from "./merge_patch.ts";

/**
 * The port's implementation for the agent of `nodeName`. As the admission policy demands, it may
 * write the allocations of its own node only: others get 403 `Forbidden`.
 */
export function createDesiredWriter({ store, gate }: ApiAccess, nodeName: string): DesiredWriter {
  return {
    async writeDesired(allocation, desired) {
      const key = objectKey(allocation);
      // A price that became infinite is absent: without the null a merge would keep the old one.
      const market = desired.market === undefined ? undefined : { price: null, ...desired.market };
      const patch = { spec: { ...desired, market } };
      const stored = await gate.send(
        { verb: "patch", kind: "PodAllocation", key },
        () =>
          store.tables.PodAllocation.modify(key, (stored) => {
            if (stored.spec.nodeName !== nodeName) {
              throw new ApiError(
                403,
                "Forbidden",
                `PodAllocation "${key}" is of node ${stored.spec.nodeName}, the agent of ${nodeName}`,
              );
            }
            return mergePatch(stored, patch) as PodAllocation;
          }),
      );
      return stored.metadata.resourceVersion;
    },
  };
}

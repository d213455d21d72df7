/**
 * PodAllocations of the simulated API: written by the controller, and by agents.
 *
 * @module
 */
import type { AllocationStore } from "../../../controller/resize/ports.ts";
import { objectKey } from "../../../shared/control/object_key.ts";
import type { ApiAccess } from "./request_gate.ts";
import type { DesiredWriter } from "../../../agent/ports.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import type { PodAllocation } from "../../../shared/api/pod_allocation.ts";
import { mergePatch } from "./merge_patch.ts";

/** The port's implementation. */
export function createAllocationStore({ store, gate }: ApiAccess): AllocationStore {
  const table = store.tables.PodAllocation;
  const kind = "PodAllocation";
  return {
    create(allocation) {
      // Identity and version are the server's to give.
      const metadata = { ...allocation.metadata, uid: "", resourceVersion: "" };
      return gate.send({ verb: "create", kind }, () => table.create({ ...allocation, metadata }));
    },
    writeStatus(allocation) {
      const key = objectKey(allocation.metadata);
      return gate.send({ verb: "updateStatus", kind, key }, () => table.replaceStatus(allocation));
    },
    async remove({ metadata }) {
      const key = objectKey(metadata);
      await gate.send({ verb: "delete", kind, key }, () => table.remove(key, metadata.uid));
    },
  };
}

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

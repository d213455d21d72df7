/**
 * The controller's writes of allocations, on the simulated API.
 *
 * @module
 */
import type { AllocationStore } from "../../controller/allocation/ports.ts";
import { objectKey } from "../../shared/control/object_key.ts";
import type { ApiAccess } from "./api_access.ts";

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

/**
 * Writes to PodAllocations on a real API server: objects and status by the controller, desired limits by
 * the agent.
 *
 * @module
 */
import type { AllocationStore, DesiredWriter } from "../../../shared/api/ports.ts";
import {
  deleteRequest,
  type KubeConnection,
  patchRequest,
  storedVersion,
} from "../client/connection.ts";
import { allocationPath, allocationsPath, parseAllocation } from "../kinds/allocations.ts";

/** Creates a store. */
export function createAllocationStore(connection: KubeConnection): AllocationStore {
  const query = { fieldManager: "mbcas-controller" };
  return {
    async create({ apiVersion, kind, metadata, spec }) {
      const { uid: _uid, resourceVersion: _version, ...newMetadata } = metadata;
      const path = allocationsPath(metadata.namespace);
      const body = { apiVersion, kind, metadata: newMetadata, spec };
      return parseAllocation(await connection.request({ method: "POST", path, query, body }));
    },
    async writeStatus(allocation) {
      const path = `${allocationPath(allocation.metadata)}/status`;
      return parseAllocation(
        await connection.request({ method: "PUT", path, query, body: allocation }),
      );
    },
    async remove({ metadata }) {
      await connection.request(deleteRequest(allocationPath(metadata), { uid: metadata.uid }));
    },
  };
}

/** Creates a writer of the clearing's outcome. */
export function createDesiredWriter(connection: KubeConnection): DesiredWriter {
  return {
    async writeDesired(allocation, desired) {
      // An infinite price is absent: without the null a merge would keep the old one.
      const market = desired.market === undefined ? undefined : { price: null, ...desired.market };
      const path = allocationPath(allocation);
      const query = { fieldManager: "mbcas-agent" };
      // The UID refuses a write to an allocation that was created again: its revisions begin anew.
      const body = { metadata: { uid: allocation.uid }, spec: { ...desired, market } };
      return storedVersion(
        await connection.request(patchRequest("merge", { path, query, body })),
      );
    },
  };
}

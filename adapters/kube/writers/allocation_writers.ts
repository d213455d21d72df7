/**
 * Writes to PodAllocations on a real API server: objects and status by the controller, desired limits by
 * the agent.
 *
 * @module
 */
import type { Desired, PodAllocation } from "../../../shared/api/pod_allocation.ts";
import {
  deleteRequest,
  type KubeConnection,
  patchRequest,
  storedVersion,
} from "../client/connection.ts";
import { allocationPath, allocationsPath, parseAllocation } from "../kinds/allocations.ts";

/** The controller's port `AllocationStore`. Each call throws an `ApiError`. */
export interface KubeAllocationStore {
  create(allocation: PodAllocation): Promise<PodAllocation>;
  writeStatus(allocation: PodAllocation): Promise<PodAllocation>;
  remove(allocation: PodAllocation): Promise<void>;
}

/** Creates a store. */
export function createAllocationStore(connection: KubeConnection): KubeAllocationStore {
  const query = { fieldManager: "mbcas-controller" };
  return {
    async create({ apiVersion, kind, metadata, spec }) {
      const { uid: _uid, resourceVersion: _version, ...own } = metadata;
      const path = allocationsPath(metadata.namespace);
      const body = { apiVersion, kind, metadata: own, spec };
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

/** Writes the outcome of the clearing; the agent's port `DesiredWriter`. */
export interface KubeDesiredWriter {
  writeDesired(
    allocation: { readonly namespace: string; readonly name: string },
    desired: Desired,
  ): Promise<string>;
}

/** Creates a writer. */
export function createDesiredWriter(connection: KubeConnection): KubeDesiredWriter {
  return {
    async writeDesired(allocation, desired) {
      // An infinite price is absent: without the null a merge would keep the old one.
      const market = desired.market === undefined ? undefined : { price: null, ...desired.market };
      const path = allocationPath(allocation);
      const query = { fieldManager: "mbcas-agent" };
      const body = { spec: { ...desired, market } };
      return storedVersion(
        await connection.request(patchRequest("merge", { path, query, body })),
      );
    },
  };
}

/**
 * The controller's writes of allocations on a real API server.
 *
 * @module
 */
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import { allocationPath, allocationsPath } from "./allocation_path.ts";
import { parseAllocation } from "./allocations.ts";
import type { KubeConnection } from "./connection.ts";

/** Writes allocations; the controller's port `AllocationStore`. Each call throws an `ApiError`. */
export interface KubeAllocationStore {
  /** Creates the object (without its status) and returns it as stored. 409 when it exists. */
  create(allocation: PodAllocation): Promise<PodAllocation>;
  /** Replaces the status; 409 `Conflict` when `resourceVersion` is not the stored one. */
  writeStatus(allocation: PodAllocation): Promise<PodAllocation>;
  /** Deletes the object if its UID is still this one; 404 when it is gone. */
  remove(allocation: PodAllocation): Promise<void>;
}

const query = { fieldManager: "mbcas-controller" };

/** A store with the rights of the connection. */
export function createAllocationStore(connection: KubeConnection): KubeAllocationStore {
  return {
    async create({ apiVersion, kind, metadata, spec }) {
      const { uid: _uid, resourceVersion: _version, ...own } = metadata;
      return parseAllocation(
        await connection.request({
          method: "POST",
          path: allocationsPath(metadata.namespace),
          query,
          body: { apiVersion, kind, metadata: own, spec },
        }),
      );
    },
    async writeStatus(allocation) {
      return parseAllocation(
        await connection.request({
          method: "PUT",
          path: `${allocationPath(allocation.metadata)}/status`,
          query,
          body: allocation,
        }),
      );
    },
    async remove({ metadata }) {
      await connection.request({
        method: "DELETE",
        path: allocationPath(metadata),
        body: { kind: "DeleteOptions", apiVersion: "v1", preconditions: { uid: metadata.uid } },
      });
    },
  };
}

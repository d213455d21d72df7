/**
 * The agent's writes of what the clearing decided, on a real API server.
 *
 * @module
 */
import type { Desired } from "../../shared/api/pod_allocation.ts";
import { allocationPath } from "./allocation_path.ts";
import type { KubeConnection } from "./connection.ts";
import { objectOf, textOf } from "./json_fields.ts";

/** Writes what the clearing decided; the agent's port `DesiredWriter`. */
export interface KubeDesiredWriter {
  /**
   * Merges `desired` into the spec, and resolves with the resourceVersion that has it. Throws an
   * `ApiError`; 404 when the allocation is gone.
   */
  writeDesired(
    allocation: { readonly namespace: string; readonly name: string },
    desired: Desired,
  ): Promise<string>;
}

/** A writer with the rights of the connection. */
export function createDesiredWriter(connection: KubeConnection): KubeDesiredWriter {
  return {
    async writeDesired(allocation, desired) {
      // A price that became infinite is absent: without the null a merge would keep the old one.
      const market = desired.market === undefined ? undefined : { price: null, ...desired.market };
      const stored = await connection.request({
        method: "PATCH",
        path: allocationPath(allocation),
        query: { fieldManager: "mbcas-agent" },
        contentType: "application/merge-patch+json",
        body: { spec: { ...desired, market } },
      });
      return textOf(objectOf(objectOf(stored).metadata).resourceVersion) ?? "";
    },
  };
}

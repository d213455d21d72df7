/**
 * Ports of the agent to the API, beside the list-watch of its node's allocations.
 *
 * @module
 */
import type { Desired } from "../shared/api/pod_allocation.ts";
import type { Node } from "../shared/api/node.ts";

/** Writes what the clearing decided. */
export interface DesiredWriter {
  /**
   * Merges `desired` into the spec, and resolves with the resourceVersion that has it. Throws an
   * `ApiError`; 404 when the allocation is gone.
   */
  writeDesired(
    allocation: { readonly namespace: string; readonly name: string },
    desired: Desired,
  ): Promise<string>;
}

/** The agent's own node in the API. */
export interface NodeLink {
  /** The node as the API has it now. Throws an `ApiError`. */
  node(): Promise<Node>;
  /** Renews the agent's Lease, so that the controller sees it alive. Throws an `ApiError`. */
  renewLease(): Promise<void>;
}

/**
 * The agent's view of its node and its sign of life, on the simulated API.
 *
 * @module
 */
import type { NodeLink } from "../../agent/ports.ts";
import { agentLeaseRef } from "../../shared/api/lease.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import { objectKey } from "../../shared/control/object_key.ts";
import type { ApiAccess } from "./api_access.ts";

/** `spec.leaseDurationSeconds` of an agent's Lease, two heartbeats. */
const DURATION_SECONDS = 120;

/** The port's implementation for the agent of `nodeName`. */
export function createNodeLink({ store, gate, clock }: ApiAccess, nodeName: string): NodeLink {
  const { Node: nodes, Lease: leases } = store.tables;
  return {
    node() {
      return gate.send({ verb: "get", kind: "Node" }, () => {
        const node = nodes.get(nodeName);
        if (node === undefined) throw new ApiError(404, "NotFound", `Node "${nodeName}" not found`);
        return node;
      });
    },
    async renewLease() {
      const ref = agentLeaseRef(nodeName);
      const renewal = { holder: nodeName, renewTimeMs: clock.wall() };
      await gate.send({ verb: "patch", kind: "Lease" }, () => {
        const key = objectKey(ref);
        if (leases.get(key) === undefined) {
          leases.create({
            metadata: { ...ref, uid: "", resourceVersion: "" },
            ...renewal,
            acquireTimeMs: renewal.renewTimeMs,
            durationSeconds: DURATION_SECONDS,
            transitions: 0,
          });
        } else leases.modify(key, (lease) => ({ ...lease, ...renewal }));
      });
    },
  };
}

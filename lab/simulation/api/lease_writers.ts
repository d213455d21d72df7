/**
 * Leases of the simulated API: leadership, and heartbeats of agents.
 *
 * @module
 */
import { objectKey } from "../../../shared/control/object_key.ts";
import type { LeaseStore } from "../../../shared/control/leader_election.ts";
import type { ApiAccess } from "./request_gate.ts";
import type { NodeLink } from "../../../agent/ports.ts";
import { agentLeaseRef } from "../../../shared/api/lease.ts";
import { ApiError } from "../../../shared/api/api_error.ts";

/** The port's implementation for the Lease of this name. */
export function createLeaseStore(
  { store, gate }: ApiAccess,
  ref: { readonly namespace: string; readonly name: string },
): LeaseStore {
  const { Lease: leases } = store.tables;
  const kind = "Lease";
  return {
    read: () => gate.send({ verb: "get", kind }, () => leases.get(objectKey(ref))),
    create(lease) {
      const metadata = { ...ref, uid: "", resourceVersion: "" };
      return gate.send({ verb: "create", kind }, () => leases.create({ ...lease, metadata }));
    },
    update(lease) {
      const metadata = { ...lease.metadata, ...ref };
      return gate.send({ verb: "update", kind }, () => leases.replace({ ...lease, metadata }));
    },
  };
}

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

/**
 * One Lease that candidates for the leadership agree over, on the simulated API.
 *
 * @module
 */
import { objectKey } from "../../shared/control/object_key.ts";
import type { LeaseStore } from "../../shared/control/leader_election.ts";
import type { ApiAccess } from "./api_access.ts";

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

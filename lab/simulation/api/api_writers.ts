/**
 * Writers of the simulated API: allocations, leases and EndpointSlices.
 *
 * @module
 */
import type { AllocationStore, DesiredWriter, NodeLink } from "../../../shared/api/ports.ts";
import { objectKey } from "../../../shared/control/object_key.ts";
import type { ApiAccess } from "./request_gate.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import type { PodAllocation } from "../../../shared/api/pod_allocation.ts";
import type { LeaseStore } from "../../../shared/control/leader_election.ts";
import { agentLeaseRef } from "../../../shared/api/lease.ts";
import type { EndpointSliceStore } from "../../../shared/admission/ports.ts";

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
            const { uid = stored.metadata.uid } = allocation;
            if (uid !== stored.metadata.uid) {
              throw new ApiError(
                422,
                "Invalid",
                `PodAllocation "${key}": metadata.uid is immutable`,
              );
            }
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

/** The port's implementation for the EndpointSlice of this name. */
export function createEndpointSliceStore(
  { store, gate }: ApiAccess,
  ref: { readonly namespace: string; readonly name: string },
): EndpointSliceStore {
  const { EndpointSlice: slices } = store.tables;
  const kind = "EndpointSlice";
  return {
    read: () => gate.send({ verb: "get", kind }, () => slices.get(objectKey(ref))),
    create(spec) {
      const metadata = { ...ref, uid: "", resourceVersion: "" };
      return gate.send({ verb: "create", kind }, () => void slices.create({ ...spec, metadata }));
    },
    replace: ({ metadata }, spec) =>
      gate.send({ verb: "update", kind }, () => {
        slices.replace({ ...spec, metadata: { ...metadata, ...ref } });
      }),
  };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * `target` changed by `patch` (RFC 7386): objects merge member by member, null removes a member,
 * everything else, arrays included, replaces what was there. Neither argument is changed.
 */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const result: Record<string, unknown> = isObject(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === undefined) continue;
    if (value === null) delete result[name];
    else result[name] = mergePatch(result[name], value);
  }
  return result;
}

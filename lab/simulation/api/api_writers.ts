/**
 * Writers of the simulated API: allocations, an agent's Lease, resizes, and a kubelet's status of pods.
 *
 * @module
 */
import { ApiError } from "../../../shared/api/api_error.ts";
import { agentLeaseRef } from "../../../shared/api/lease.ts";
import type { Pod, PodContainer } from "../../../shared/api/pod.ts";
import type { PodAllocation } from "../../../shared/api/pod_allocation.ts";
import type { AllocationStore, DesiredWriter, NodeLink } from "../../../shared/api/ports.ts";
import type { ListWatch } from "../../../shared/control/informer.ts";
import { objectKey } from "../../../shared/control/object_key.ts";
import type { PodResizer } from "../../../shared/resize/patch.ts";
import {
  chargeQuotas,
  checkLimitRanges,
  checkNode,
  resizePod,
  writeDefaults,
} from "./admission.ts";
import { refuseOtherUID } from "./kinds.ts";
import { createListWatch } from "./list_watch.ts";
import type { ApiAccess } from "./request_gate.ts";

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
            refuseOtherUID(stored, allocation.uid ?? stored.metadata.uid);
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

/** The port's implementation; `manager` is the field manager that the pod then names. */
export function createPodResizer({ store, gate }: ApiAccess, manager: string): PodResizer {
  return {
    async resize(namespace, podName, patch, options = {}) {
      const key = objectKey({ namespace, name: podName });
      const { Pod: pods } = store.tables;
      return await gate.send(
        { verb: "resize", kind: "Pod", key },
        () =>
          pods.modify(key, (before) => {
            const after = writeDefaults(store, resizePod(before, patch, { manager, ...options }));
            if (after === before) return before;
            checkLimitRanges(store, after);
            checkNode(store, after);
            chargeQuotas(store, { before, after });
            return after;
          }).metadata.resourceVersion,
      );
    },
  };
}

/** The kubelet's status of a pod. */
export interface PodReport extends Pick<Pod, "phase" | "ready" | "resizeConditions"> {
  readonly containers: readonly Pick<PodContainer, "name" | "containerID" | "ready" | "applied">[];
}

/** The kubelet's door to the API. */
export interface KubeletLink {
  readonly pods: ListWatch<Pod>;
  /** Writes the pod's status. Throws an `ApiError`: 404, 409 when the UID is another one. */
  report(pod: Pod, report: PodReport): Promise<void>;
  /** Removes a pod that has ended. Throws an `ApiError` as `report`. */
  remove(pod: Pod): Promise<void>;
}

function withReport(stored: Pod, report: PodReport): Pod {
  const containers = stored.containers.map((container) => {
    const found = report.containers.find(({ name }) => name === container.name);
    return found === undefined ? container : { ...container, ...found };
  });
  const { phase, ready, resizeConditions } = report;
  return { ...stored, phase, ready, resizeConditions, containers };
}

/** The door for the kubelet of `nodeName`. */
export function createKubeletLink(access: ApiAccess, nodeName: string): KubeletLink {
  const { store, gate } = access;
  const table = store.tables.Pod;
  return {
    pods: createListWatch(access, "Pod", { nodeName }),
    async report({ metadata }, report) {
      await gate.send(
        { verb: "updateStatus", kind: "Pod" },
        () =>
          table.modify(objectKey(metadata), (stored) => {
            if (stored.metadata.uid !== metadata.uid) {
              throw new ApiError(409, "Conflict", `Pod "${metadata.name}" has another UID`);
            }
            return withReport(stored, report);
          }),
      );
    },
    async remove({ metadata }) {
      const key = objectKey(metadata);
      await gate.send({ verb: "delete", kind: "Pod" }, () => table.remove(key, metadata.uid));
    },
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

/**
 * Writers of the simulated API: allocations, leases and EndpointSlices.
 *
 * @module
 */
import type { AllocationStore, DesiredWriter, NodeLink } from "../../../shared/api/ports.ts";
import { objectKey } from "../../../shared/control/object_key.ts";
import { invalid, refuseOtherUID } from "./kinds.ts";
import type { ApiAccess } from "./request_gate.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import type { PodAllocation } from "../../../shared/api/pod_allocation.ts";
import type { LeaseStore } from "../../../shared/control/leader_election.ts";
import { agentLeaseRef } from "../../../shared/api/lease.ts";
import type { EndpointSliceStore } from "../../../shared/admission/ports.ts";
import type {
  NewReport,
  PolicyStatusWriter,
  ReportStore,
  WorkloadWriter,
} from "../../../shared/rightsizing/ports.ts";
import { OPTIPOD_GROUP_VERSION } from "../../../shared/api/optimization_policy.ts";
import type { RecommendationReport } from "../../../shared/api/recommendation_report.ts";
import { isDeepStrictEqual } from "node:util";
import { NO_RESOURCES, type PodContainer, withResources } from "../../../shared/api/pod.ts";
import type { MadePods, TemplateOwners, Workload } from "../../../shared/api/workload.ts";
import {
  pairOf,
  pairsOf,
  RESOURCE_NAMES,
  type WantedResources,
} from "../../../shared/resize/inputs/resources.ts";
import { RIGHTSIZING_MANAGER } from "../../../shared/resize/original_limits.ts";
import type { RightsizedWorkload } from "../../../shared/rightsizing/guards/rightsizing_snapshot.ts";

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

/** The port's implementation. */
export function createPolicyStatusWriter({ store, gate }: ApiAccess): PolicyStatusWriter {
  const table = store.tables.OptimizationPolicy;
  return {
    async writeStatus({ metadata }, status) {
      const stored = await gate.send(
        { verb: "updateStatus", kind: "OptimizationPolicy" },
        () => table.replaceStatus({ metadata, faults: [], status }),
      );
      return stored.metadata.resourceVersion;
    },
  };
}

/** The port's implementation. */
export function createReportStore({ store, gate }: ApiAccess): ReportStore {
  const table = store.tables.RecommendationReport;
  const kind = "RecommendationReport";
  return {
    list(namespace) {
      return gate.send(
        { verb: "list", kind },
        () => table.all().filter(({ metadata }) => metadata.namespace === namespace),
      );
    },
    apply(report) {
      const verb = report.resourceVersion === undefined ? "create" : "patch";
      return gate.send({ verb, kind }, () => {
        const stored = table.get(objectKey(report));
        const wanted = objectOf(report, stored);
        return report.resourceVersion === undefined || stored === undefined
          ? table.create(wanted)
          : table.replace(wanted);
      });
    },
    async remove({ metadata }) {
      const key = objectKey(metadata);
      await gate.send({ verb: "delete", kind }, () => {
        const stored = table.get(key);
        const isOther = stored?.metadata.resourceVersion !== metadata.resourceVersion;
        if (stored !== undefined && isOther) {
          throw new ApiError(409, "Conflict", `${kind} "${key}": the precondition failed`);
        }
        return table.remove(key, metadata.uid);
      });
    },
  };
}

function objectOf(
  { namespace, name, resourceVersion, workloads }: NewReport,
  stored: RecommendationReport | undefined,
): RecommendationReport {
  return {
    apiVersion: OPTIPOD_GROUP_VERSION,
    kind: "RecommendationReport",
    metadata: {
      namespace,
      name,
      uid: stored?.metadata.uid ?? "",
      resourceVersion: resourceVersion ?? "",
      labels: { "app.kubernetes.io/managed-by": "mbcas-controller" },
    },
    workloads: [...workloads],
  };
}

type Named = Pick<RightsizedWorkload, "kind" | "metadata">;

/** The port's implementation. */
export function createWorkloadWriter({ store, gate, clock }: ApiAccess): WorkloadWriter {
  const modify = (
    { kind, metadata }: Named,
    change: (stored: Workload) => Workload,
  ): Promise<Workload> =>
    gate.send(
      { verb: "patch", kind },
      () => store.tables[kind].modify(objectKey(metadata), change),
    );
  return {
    async recreate(workload, wanted) {
      await modify(workload, (stored) => {
        const { kind, metadata: { name, uid } } = workload;
        if (stored.metadata.uid !== uid || stored.makes === undefined) {
          throw new ApiError(404, "NotFound", `${kind} "${name}" with UID ${uid} not found`);
        }
        if (!isDeepStrictEqual(stored.makes.template, workload.template)) {
          throw new ApiError(409, "Conflict", `${kind} "${name}": its template has changed`);
        }
        const makes = withValues(stored.makes, { workload, wanted });
        const owners = withOwner(stored.makes.owners ?? {}, { wanted, atMs: clock.wall() });
        return { ...stored, makes: { ...makes, owners } };
      });
    },
    async annotate(workload, { metadata: { annotations: changes } }) {
      await modify(workload, (stored) => {
        refuseOtherUID(stored, workload.metadata.uid);
        const annotations = { ...stored.metadata.annotations };
        for (const [name, text] of Object.entries(changes)) {
          if (text === null) delete annotations[name];
          else annotations[name] = text;
        }
        return { ...stored, metadata: { ...stored.metadata, annotations } };
      });
    },
  };
}

/** The owners after rightsizing has written the values. */
function withOwner(
  owners: TemplateOwners,
  { wanted, atMs }: { readonly wanted: WantedResources; readonly atMs: number },
): TemplateOwners {
  const owner = { manager: RIGHTSIZING_MANAGER, atMs };
  const next = { ...owners };
  for (const { container, resource, pair: { request, limit } } of pairsOf(wanted)) {
    next[container] = {
      ...next[container],
      ...(request !== undefined && { [`requests.${resource}`]: owner }),
      ...(limit !== undefined && { [`limits.${resource}`]: owner }),
    };
  }
  return next;
}

/** All containers together or none. Throws 422 for a request above its limit. */
function withValues(
  makes: MadePods,
  { workload, wanted }: { readonly workload: Named; readonly wanted: WantedResources },
): MadePods {
  const containers = makes.template.containers.map((container): PodContainer => {
    if (container.sidecar) return container;
    const after = withResources(container, wanted.get(container.name) ?? NO_RESOURCES);
    for (const resource of RESOURCE_NAMES) {
      const { request = 0, limit = Infinity } = pairOf(after, resource);
      if (request <= limit) continue;
      throw invalid(
        workload,
        `container "${after.name}": requests: Invalid value: must be less than or equal to ` +
          `${resource} limit`,
      );
    }
    return after;
  });
  return { ...makes, template: { ...makes.template, containers } };
}

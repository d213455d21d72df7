/**
 * A PodAllocation in which one field has another value that the API server accepts.
 *
 * @module
 */
import type { PodAllocation, PodAllocationStatus } from "../../../shared/api/pod_allocation.ts";
import type { CORRUPTIONS } from "../fault.ts";

type Field = typeof CORRUPTIONS[number];

/** The record with the corrupted field. */
export function corrupted(record: PodAllocation, field: Field): PodAllocation {
  const { apiVersion, kind, metadata, spec, status } = record;
  if (field === "desired") {
    const containers = spec.containers?.map((one) => ({ ...one, cpuLimit: "1900m" }));
    if (containers === undefined) return record;
    return { ...record, spec: { ...spec, containers, desiredCPULimit: "1900m" } };
  }
  if (field === "ownerReferences") {
    const { ownerReferences: _lost, ...rest } = metadata;
    return { ...record, metadata: rest };
  }
  if (field === "status") return { apiVersion, kind, metadata, spec };
  return status === undefined ? record : { ...record, status: corruptedStatus(status, field) };
}

function corruptedStatus(status: PodAllocationStatus, field: Field): PodAllocationStatus {
  const { bounds, originalLimits: _lost, ...rest } = status;
  switch (field) {
    case "bounds": {
      const containers = bounds?.containers.map((one) => ({ ...one, ceiling: one.floor })) ?? [];
      return bounds === undefined ? status : { ...status, bounds: { ...bounds, containers } };
    }
    case "revision":
      return bounds === undefined
        ? status
        : { ...status, bounds: { ...bounds, revision: bounds.revision + 7 } };
    case "phase":
      return { ...status, phase: "Failed" };
    default:
      return { ...rest, ...(bounds === undefined ? {} : { bounds }) };
  }
}

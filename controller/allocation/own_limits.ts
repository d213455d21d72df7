/**
 * The user's own limits and requests, as they were before the first change.
 *
 * @module
 */
import type { Pod } from "../../shared/api/pod.ts";
import type { Original, PodAllocationStatus } from "../../shared/api/pod_allocation.ts";
import { formatCPU, parseCPU } from "../../shared/quantity.ts";

/** The field manager of this product's own patches. */
const OWN_MANAGER = "mbcas";

/**
 * True when the limits in the pod's spec are this product's, or once were: without a record they
 * can't be taken for the user's own.
 */
export function limitsAreOurs({ limitManager }: Pod): boolean {
  return limitManager === OWN_MANAGER;
}

/** Limits and requests that stand in the pod's spec now. */
export function originalsOf(
  { containers }: Pod,
): Required<Pick<PodAllocationStatus, "originalLimits" | "originalRequests">> {
  const entry = (name: string, millicores: number | undefined): Original =>
    millicores === undefined ? { name } : { name, cpu: formatCPU(millicores) };
  return {
    originalLimits: containers.map(({ name, limitCPU }) => entry(name, limitCPU)),
    originalRequests: containers.map(({ name, requestCPU }) => entry(name, requestCPU)),
  };
}

/** Recorded values by container name, millicores; containers without one are left out. */
export function ownValues(originals: readonly Original[] | undefined): Map<string, number> {
  const values = new Map<string, number>();
  for (const { name, cpu } of originals ?? []) {
    if (cpu !== undefined) values.set(name, parseCPU(cpu));
  }
  return values;
}

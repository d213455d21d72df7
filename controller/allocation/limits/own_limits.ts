/**
 * The user's own limits and requests, as they were before the first change.
 *
 * @module
 */
import type { Pod } from "../../../shared/api/pod.ts";
import type { Original } from "../../../shared/api/pod_allocation.ts";
import { countableCPU, formatCPU } from "../../../shared/quantity.ts";
import { movesRequest } from "../../../shared/resize/qos.ts";

/** Own limits and requests, for the record. */
export interface Originals {
  readonly originalLimits: Original[];
  readonly originalRequests: Original[];
}

const entry = (name: string, millicores: number | undefined): Original =>
  millicores === undefined ? { name } : { name, cpu: formatCPU(millicores) };

/** Limits and requests that stand in the pod's spec now. */
export function originalsOf({ containers }: Pod): Originals {
  return {
    originalLimits: containers.map(({ name, limitCPU }) => entry(name, limitCPU)),
    originalRequests: containers.map(({ name, requestCPU }) => entry(name, requestCPU)),
  };
}

/** The pod with the user's own requests, where the market moves those in its spec. */
export function atOwnRequests(pod: Pod, ownRequests: ReadonlyMap<string, number>): Pod {
  if (!movesRequest(pod)) return pod;
  const containers = pod.containers.map((container) => {
    const requestCPU = ownRequests.get(container.name);
    return requestCPU === undefined ? container : { ...container, requestCPU };
  });
  return { ...pod, containers };
}

/**
 * Recorded values by container name, millicores; containers without one are left out, and so are those
 * whose value can't be counted: no hand of ours has recorded that.
 */
export function ownValues(originals: readonly Original[] | undefined): Map<string, number> {
  const values = new Map<string, number>();
  for (const { name, cpu } of originals ?? []) {
    const millicores = cpu === undefined ? undefined : countableCPU(cpu);
    if (millicores !== undefined) values.set(name, millicores);
  }
  return values;
}

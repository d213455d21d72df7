/**
 * The user's own limits and requests, as they were before the first change.
 *
 * @module
 */
import { MARKET_MANAGER } from "../../../shared/actuation/field_managers.ts";
import { movesRequest } from "../../../shared/actuation/moved_request.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import type { Original } from "../../../shared/api/pod_allocation.ts";
import { countableCPU, formatCPU } from "../../../shared/quantity.ts";

/** Own limits and requests, for the record. */
export interface Originals {
  readonly originalLimits: Original[];
  readonly originalRequests: Original[];
}

/**
 * True when a limit in the pod's spec is the market's: without a record it can't be taken for the
 * user's own. One that was brought back has another manager.
 */
export function limitsAreOurs({ containers }: Pod): boolean {
  return containers.some(({ limitManagers }) => isOurs(limitManagers));
}

/** True when nobody else manages the limit: a co-manager has applied the value as its own. */
function isOurs(limitManagers: readonly string[] = []): boolean {
  return limitManagers.length > 0 && limitManagers.every((manager) => manager === MARKET_MANAGER);
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

/**
 * Own limits where some in the pod's spec are this product's: those come from the template that
 * made the pod. Undefined when the template does not say all of them. Requests that move with the
 * limits are the product's where the limits are.
 */
export function originalsFrom(
  template: ReadonlyMap<string, number>,
  pod: Pod,
): Originals | undefined {
  const { originalRequests, originalLimits } = originalsOf(pod);
  const limits: Original[] = [];
  for (const [index, original] of originalLimits.entries()) {
    const { name } = original;
    if (!isOurs(pod.containers[index]?.limitManagers)) limits.push(original);
    else if (template.has(name)) limits.push(entry(name, template.get(name)));
    else return undefined;
  }
  return {
    originalLimits: limits,
    originalRequests: movesRequest(pod) ? [...limits] : originalRequests,
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

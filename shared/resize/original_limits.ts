/**
 * The user's original CPU limits, which the pod itself carries: the market sends its limits under a
 * field manager with a name that lists them. They are stored by the very patch that replaces them, so that
 * neither a lost record nor a stale copy of one can lose them.
 *
 * @module
 */
import type { Original, PodAllocation } from "../api/pod_allocation.ts";
import type { Pod, PodContainer } from "../api/pod.ts";
import { mapDefined } from "../defined.ts";
import { countableCPU, formatCPU, parseCPUBound } from "../quantity.ts";

/** Manager of the limits that the market has set. */
export const MARKET_MANAGER = "mbcas";

/** Manager of limits that are the user's own value, set by this product: when it brought them back. */
export const RESTORE_MANAGER = "mbcas-restore";

/** Manager of values that rightsizing has set, in pods and in templates. */
export const RIGHTSIZING_MANAGER = "optipod";

const PREFIX = `${MARKET_MANAGER}/`;
/** API servers refuse longer names (`FieldManagerMaxLength` of k8s.io/apimachinery). */
const LONGEST_NAME = 128;

/**
 * API servers keep ten managers of an object and put the oldest of more under this name, the market's
 * too (`capManagersManager` of k8s.io/apimachinery).
 */
const FORGOTTEN = "ancient-changes";

/**
 * The field manager for limits of the market: `mbcas/200m,50m` for a pod with containers that have these
 * original limits, millicores by container name; a container without one has an empty place. Plain
 * `mbcas` where the list is too long, from 20 containers on: then the record alone has them.
 */
export function marketManager(
  { containers }: Pick<Pod, "containers">,
  originals: ReadonlyMap<string, number>,
): string {
  const values = containers.map(({ name }) => mapDefined(originals.get(name), formatCPU) ?? "");
  const name = PREFIX + values.join(",");
  return name.length > LONGEST_NAME ? MARKET_MANAGER : name;
}

/** True for the market's name, with or without original limits in it. */
export function isMarketManager(name: string): boolean {
  return name === MARKET_MANAGER || name.startsWith(PREFIX);
}

/** True when no other manager has the limit: a co-manager has applied the value as its own. */
function isOfMarket({ limitManagers = [] }: PodContainer): boolean {
  return limitManagers.length > 0 && limitManagers.every(isMarketManager);
}

/** True when a limit in the pod's spec is the market's; one that was brought back is not. */
export function limitsAreOurs({ containers }: Pick<Pod, "containers">): boolean {
  return containers.some(isOfMarket);
}

/** A container's original limit as the pod itself has it: the present one unless it is the market's. */
function originalIn(container: PodContainer, index: number): number | undefined {
  const { limitManagers: [manager = FORGOTTEN] = [], limits } = container;
  if (manager === FORGOTTEN) return undefined;
  if (!isOfMarket(container)) return limits.cpu;
  const text = manager.slice(PREFIX.length).split(",")[index] ?? "";
  return text === "" ? undefined : countableCPU(text);
}

/** Original limits that the pod itself has, millicores by container name. */
export function originalsIn({ containers }: Pick<Pod, "containers">): ReadonlyMap<string, number> {
  return new Map(containers.flatMap((container, index): [string, number][] => {
    const original = originalIn(container, index);
    return original === undefined ? [] : [[container.name, original]];
  }));
}

/** Where original limits come from when the pod itself does not have them. */
export interface OtherSources {
  /** Original limits in the allocation's status. */
  readonly recorded?: readonly Original[] | undefined;
  /** Limits of the template that the pod was made from, millicores by container name. */
  readonly template?: ReadonlyMap<string, number> | undefined;
}

/**
 * The original limits of all containers, or undefined when nothing records those that the market has
 * replaced. The pod takes precedence over the record, but for a value that rightsizing has put in the
 * place of the one in the pod.
 */
export function originalLimitsOf(
  pod: Pick<Pod, "containers">,
  { recorded, template }: OtherSources,
): Original[] | undefined {
  const carried = originalsIn(pod);
  const originals: Original[] = [];
  for (const container of pod.containers) {
    const { name, limits } = container;
    const record = recorded?.find((one) => one.name === name);
    const own = carried.get(name);
    const replaced = mapDefined(record?.replaces, countableCPU);
    const cpu = isOfMarket(container) ? template?.get(name) : limits.cpu;
    if (own !== undefined && own !== replaced) originals.push({ name, cpu: formatCPU(own) });
    else if (record !== undefined) originals.push(record);
    else if (cpu !== undefined) originals.push({ name, cpu: formatCPU(cpu) });
    else if (isOfMarket(container)) return undefined;
    else originals.push({ name });
  }
  return originals;
}

/** Desired limits by container name, millicores. */
export function desiredLimits(
  { containers = [] }: Pick<PodAllocation["spec"], "containers">,
): ReadonlyMap<string, number> {
  return new Map(containers.map(({ name, cpuLimit }) => [name, parseCPUBound(cpuLimit)]));
}

/**
 * Recorded values by container name, millicores. Leaves out containers without a value, and values that
 * can't be counted, since the controller has not recorded those.
 */
export function originalValues(originals: readonly Original[] | undefined): Map<string, number> {
  return new Map(
    (originals ?? []).flatMap(({ name, cpu }) => {
      const millicores = mapDefined(cpu, countableCPU);
      return millicores === undefined ? [] : [[name, millicores] as const];
    }),
  );
}

/** The original limits of the allocation's pod; undefined when they are not on record. */
export function recordedLimitsOf(
  allocation: PodAllocation | undefined,
): ReadonlyMap<string, number> | undefined {
  const originals = allocation?.status?.originalLimits;
  return originals && originalValues(originals);
}

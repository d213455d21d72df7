/**
 * The user's original CPU limits, which are stored in the pod itself: the market sends its limits under a
 * field manager with a name that lists the original ones. So the patch that replaces them also stores
 * them, and no lost or stale record can lose them.
 *
 * @module
 */
import type { Original, PodAllocation } from "../api/pod_allocation.ts";
import type { Pod, PodContainer } from "../api/pod.ts";
import { mapDefined } from "../defined.ts";
import { countableCPU, formatCPU, parseCPUBound } from "../quantity.ts";

/** Field manager of limits that the market has set. */
export const MARKET_MANAGER = "mbcas";

/** Field manager of limits that the market or a restore has set to the original value. */
export const RESTORE_MANAGER = "mbcas-restore";

/** Field manager of values that rightsizing has set, in pods and in templates. */
export const RIGHTSIZING_MANAGER = "optipod";

const PREFIX = `${MARKET_MANAGER}/`;
/** API servers refuse longer names (`FieldManagerMaxLength` of k8s.io/apimachinery). */
const LONGEST_NAME = 128;

/**
 * API servers keep ten managers of an object and merge older ones under this name
 * (`capManagersManager` of k8s.io/apimachinery).
 */
const MERGED_MANAGER = "ancient-changes";

/**
 * The field manager for limits of the market: `mbcas/200m,50m` for a pod with two containers with these
 * original limits; a container without one has an empty place. Plain `mbcas` where the list is too long,
 * from some 20 containers on: then only the record has the original limits.
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

/** True when the market is the only manager: another one has applied the value as its own. */
function isOfMarket({ limitManagers = [] }: PodContainer): boolean {
  return limitManagers.length > 0 && limitManagers.every(isMarketManager);
}

/** True when a limit in the pod's spec is the market's, and not a restored one. */
export function limitsAreOurs({ containers }: Pick<Pod, "containers">): boolean {
  return containers.some(isOfMarket);
}

/** A container's original limit by the pod: the present one, or that in the manager's name. */
function originalIn(container: PodContainer, index: number): number | undefined {
  const { limitManagers: [manager = MERGED_MANAGER] = [], limits } = container;
  if (manager === MERGED_MANAGER) return undefined;
  if (!isOfMarket(container)) return limits.cpu;
  const text = manager.slice(PREFIX.length).split(",")[index] ?? "";
  return text === "" ? undefined : countableCPU(text);
}

/** Original limits by the pod itself, millicores by container name. */
export function originalsIn({ containers }: Pick<Pod, "containers">): ReadonlyMap<string, number> {
  return new Map(containers.flatMap((container, index): [string, number][] => {
    const original = originalIn(container, index);
    return original === undefined ? [] : [[container.name, original]];
  }));
}

/** Sources of original limits that the pod itself does not have. */
export interface OtherSources {
  /** In the allocation's status. */
  readonly recorded?: readonly Original[] | undefined;
  /** In the template of the pod's owner, millicores by container name. */
  readonly template?: ReadonlyMap<string, number> | undefined;
}

/**
 * The original limits of all containers, or undefined when no source has those that the market has
 * replaced. The pod takes precedence over the record, unless rightsizing has replaced the value in the
 * pod by the one in the record.
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

/** Recorded values by container name, millicores; without those that are absent or can't be read. */
export function originalValues(originals: readonly Original[] | undefined): Map<string, number> {
  return new Map(
    (originals ?? []).flatMap(({ name, cpu }) => {
      const millicores = mapDefined(cpu, countableCPU);
      return millicores === undefined ? [] : [[name, millicores] as const];
    }),
  );
}

/** The recorded original limits of the allocation's pod; undefined when there is no record. */
export function recordedLimitsOf(
  allocation: PodAllocation | undefined,
): ReadonlyMap<string, number> | undefined {
  const originals = allocation?.status?.originalLimits;
  return originals && originalValues(originals);
}

/**
 * Wanted requests and limits by container, and totals of a pod.
 *
 * @module
 */
import {
  NO_RESOURCES,
  type Pod,
  type PodContainer,
  type ResourceName,
  type Resources,
  withResources,
} from "../../api/pod.ts";
import { defined } from "../../defined.ts";
import { formatBytes, formatCPU } from "../../quantity.ts";

/** Request and limit of one resource, millicores or bytes; an absent value stays as it is. */
export interface ResourcePair {
  readonly request?: number;
  readonly limit?: number;
}

/** A key of {@linkcode ResourcePair}. */
export type PairSide = keyof ResourcePair;

/** Both sides of a pair, in the order of messages. */
const PAIR_SIDES: readonly PairSide[] = ["request", "limit"];

/**
 * Wanted requests and limits by container; an absent value stays as it is. A check that rejects a
 * resource of a container removes both request and limit, since they were computed together.
 */
export type WantedResources = ReadonlyMap<string, Resources>;

/** Both sides of a container's resources. */
export const RESOURCE_SIDES: readonly (keyof Resources)[] = ["requests", "limits"];

/** Both resources, in the order of messages. */
export const RESOURCE_NAMES: readonly ResourceName[] = ["cpu", "memory"];

/** Values by resource, for each that has one. */
export function byResource<T>(
  valueOf: (resource: ResourceName) => T | undefined,
): Readonly<Partial<Record<ResourceName, T>>> {
  return defined({ cpu: valueOf("cpu"), memory: valueOf("memory") }) as Partial<
    Record<ResourceName, T>
  >;
}

/** Request and limit that the container has of the resource. */
export function pairOf(
  { requests, limits }: Resources,
  resource: ResourceName,
): ResourcePair {
  return pair(requests[resource], limits[resource]);
}

/** True where any amount is given. */
export function hasAmounts({ requests, limits }: Resources): boolean {
  return RESOURCE_NAMES.some((name) => (requests[name] ?? limits[name]) !== undefined);
}

/** A pair without its undefined values. */
export function pair(request: number | undefined, limit: number | undefined): ResourcePair {
  return defined({ request, limit });
}

/** Converts pairs by resource to requests and limits. */
export function resourcesOf(
  { cpu = {}, memory = {} }: Readonly<Partial<Record<ResourceName, ResourcePair>>>,
): Resources {
  return {
    requests: defined({ cpu: cpu.request, memory: memory.request }),
    limits: defined({ cpu: cpu.limit, memory: memory.limit }),
  };
}

/** The container as the server stores it: without a request, the request is the limit. */
export function withDefaultRequests<C extends Resources>(container: C): C {
  return { ...container, requests: { ...container.limits, ...container.requests } };
}

/** The containers with these values over their own, by name. */
export function containersWith<C extends Resources & { readonly name: string }>(
  containers: readonly C[],
  values: ReadonlyMap<string, Partial<Resources>>,
): readonly C[] {
  return containers.map((one) => withResources(one, values.get(one.name) ?? NO_RESOURCES));
}

/** A pair with its container and resource. */
export interface PairEntry {
  readonly container: string;
  readonly resource: ResourceName;
  readonly pair: ResourcePair;
}

/** All pairs that have a value, container by container. */
export function pairsOf(wanted: WantedResources): readonly PairEntry[] {
  return [...wanted].flatMap(([container, resources]) =>
    RESOURCE_NAMES.flatMap((resource): PairEntry[] => {
      const found = pairOf(resources, resource);
      const isEmpty = found.request === undefined && found.limit === undefined;
      return isEmpty ? [] : [{ container, resource, pair: found }];
    })
  );
}

/** Entries as wanted resources, without containers that have no value left. */
export function wantedOf(entries: readonly PairEntry[]): WantedResources {
  const wanted = new Map<string, Resources>();
  for (const { container, resource, pair } of entries) {
    if (pair.request === undefined && pair.limit === undefined) continue;
    const others = wanted.get(container) ?? NO_RESOURCES;
    wanted.set(container, withResources(others, resourcesOf({ [resource]: pair })));
  }
  return wanted;
}

/** Differences between two states of the same values: `app cpu request 300m to 250m`. */
export function describeCut(before: WantedResources, after: WantedResources): string {
  return pairsOf(before).flatMap(({ container, resource, pair: old }) =>
    PAIR_SIDES.flatMap((side) => {
      const was = old[side];
      const is = pairOf(after.get(container) ?? NO_RESOURCES, resource)[side];
      if (was === undefined || was === is) return [];
      const to = is === undefined ? "left as it is" : `to ${formatAmount(resource, is)}`;
      return [`${container} ${resource} ${side} ${formatAmount(resource, was)} ${to}`];
    })
  ).join(", ");
}

/** A quantity for people and for the API. */
export function formatAmount(resource: ResourceName, amount: number): string {
  return resource === "cpu" ? formatCPU(amount) : formatBytes(amount);
}

/** `app cpu 120m (limit 300m), app memory 64Mi`. */
export function describeWanted(wanted: WantedResources): string {
  return pairsOf(wanted).map(({ container, resource, pair: { request, limit } }) => {
    const limitText = limit === undefined ? "" : `limit ${formatAmount(resource, limit)}`;
    if (request === undefined) return `${container} ${resource} ${limitText}`;
    const text = `${container} ${resource} ${formatAmount(resource, request)}`;
    return limitText === "" ? text : `${text} (${limitText})`;
  }).join(", ");
}

/**
 * Groups of containers that run at the same time: the containers with all sidecars, and each init
 * container with the sidecars before it. The pod's total is the largest sum of a group.
 */
export function podPhases(
  { containers, initContainers }: Pick<Pod, "containers" | "initContainers">,
): readonly (readonly PodContainer[])[] {
  const sidecars = containers.filter(({ sidecar }) => sidecar);
  const inits = initContainers.map((one) => [one, ...sidecars.slice(0, one.sidecarsBefore ?? 0)]);
  return [containers, ...inits];
}

/** One of the amounts of a container or pod, for instance its CPU limit. */
export type AmountOf = (
  resources: Resources & Partial<Pick<PodContainer, "applied">>,
) => number | undefined;

/** The sum over the containers that have a value. */
export function sumOf(containers: readonly Resources[], amountOf: AmountOf): number {
  return containers.reduce((sum, container) => sum + (amountOf(container) ?? 0), 0);
}

/**
 * The pod's total, millicores or bytes: its pod-level value, if any, otherwise by containers. Undefined
 * where no container has a value.
 */
export function podTotal(
  pod: Pick<Pod, "containers" | "initContainers" | "podLevel">,
  amountOf: AmountOf,
): number | undefined {
  const ofPod = pod.podLevel && amountOf(pod.podLevel);
  if (ofPod !== undefined) return ofPod;
  const phases = podPhases(pod);
  const isGiven = phases.flat().some((one) => amountOf(one) !== undefined);
  return isGiven ? Math.max(...phases.map((phase) => sumOf(phase, amountOf))) : undefined;
}

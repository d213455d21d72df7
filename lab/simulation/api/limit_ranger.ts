/**
 * Effects of a namespace's LimitRanges on a resize: they write defaults, then check each container and
 * the pod. Source: admission plugin LimitRanger of Kubernetes 1.33 to 1.36 (messages shortened).
 *
 * @module
 */
import { ApiError } from "../../../shared/api/api_error.ts";
import type { LimitRangeBounds, LimitRangeItem } from "../../../shared/api/namespace.ts";
import {
  type Pod,
  type PodContainer,
  type ResourceName,
  type Resources,
  withResources,
} from "../../../shared/api/pod.ts";
import { parseBytes, parseCPU } from "../../../shared/quantity.ts";
import { qosClassOfPod } from "../../../shared/resize/inputs/qos.ts";
import type { ObjectStore } from "./object_store.ts";

/** The answer of an admission plugin that refuses the pod. */
export function forbidden({ metadata }: Pod, problem: string): ApiError {
  return new ApiError(403, "Forbidden", `pods "${metadata.name}" is forbidden: ${problem}`);
}

function itemsFor({ tables }: ObjectStore, { metadata }: Pod): readonly LimitRangeItem[] {
  return tables.LimitRange.all()
    .filter((range) => range.metadata.namespace === metadata.namespace)
    .flatMap(({ items }) => items);
}

/** The container with one default; the same one where it has a value already. */
function withDefault(
  container: PodContainer,
  [name, text]: readonly [string, string],
): PodContainer {
  const [side, resource] = name.split(".");
  if ((side === "requests" || side === "limits") && (resource === "cpu" || resource === "memory")) {
    if (container[side][resource] !== undefined) return container;
    const amount = resource === "cpu" ? parseCPU(text) : parseBytes(text);
    return withResources(container, { [side]: { [resource]: amount } });
  }
  const { otherResources = [] } = container;
  return otherResources.includes(name)
    ? container
    : { ...container, otherResources: [...otherResources, name] };
}

/**
 * The pod with the defaults of its namespace in all containers that lack them. Throws 422 where they
 * would change the QoS class, or what is neither CPU nor memory.
 */
export function writeDefaults(store: ObjectStore, pod: Pod): Pod {
  const defaults = itemsFor(store, pod).flatMap((item) => Object.entries(item.defaults ?? {}));
  const write = (containers: readonly PodContainer[]): readonly PodContainer[] =>
    containers.map((one) => defaults.reduce<PodContainer>(withDefault, one));
  const after = {
    ...pod,
    containers: write(pod.containers),
    initContainers: write(pod.initContainers),
  };
  const before = [...pod.containers, ...pod.initContainers];
  const all = [...after.containers, ...after.initContainers];
  if (all.every((one, index) => one === before[index])) return pod;
  const invalid = (problem: string): ApiError =>
    new ApiError(422, "Invalid", `Pod "${pod.metadata.name}" is invalid: ${problem}`);
  if (qosClassOfPod(after) !== pod.qosClass) {
    throw invalid("metadata: Invalid value: Pod QOS Class may not change by a resize");
  }
  if (all.some(({ otherResources }, index) => otherResources !== before[index]?.otherResources)) {
    throw invalid("spec: Forbidden: only cpu and memory resources are mutable");
  }
  return after;
}

/** A container's or pod's request and limit of one resource; absent is not 0. */
interface Sizes {
  readonly request: number | undefined;
  readonly limit: number | undefined;
}

function problemOf(
  { type, min, max, ratio }: LimitRangeBounds & Pick<LimitRangeItem, "type">,
  { resource, request, limit }: Sizes & { readonly resource: ResourceName },
): string | undefined {
  const unit = resource === "cpu" ? "m" : "";
  const least = `minimum ${resource} usage per ${type} is ${min}${unit}`;
  const most = `maximum ${resource} usage per ${type} is ${max}${unit}`;
  const times = `${resource} max limit to request ratio per ${type} is ${ratio}`;
  if (min !== undefined) {
    if (request === undefined) return `${least}.  No request is specified`;
    if (request < min) return `${least}, but request is ${request}${unit}`;
    if (limit !== undefined && limit < min) return `${least}, but limit is ${limit}${unit}`;
  }
  if (max !== undefined) {
    if (limit === undefined) return `${most}.  No limit is specified`;
    if (limit > max) return `${most}, but limit is ${limit}${unit}`;
    if (request !== undefined && request > max) return `${most}, but request is ${request}${unit}`;
  }
  if (ratio === undefined) return undefined;
  if (!request) return `${times}, but no request is specified or request is 0`;
  if (!limit) return `${times}, but no limit is specified or limit is 0`;
  return limit / request > ratio
    ? `${times}, but provided ratio is ${(limit / request).toFixed(6)}`
    : undefined;
}

/**
 * `podRequests` and `podLimits`: Σ of containers and sidecars, or of an init container and the
 * sidecars that were started before it; the values of the pod as a whole take precedence.
 */
function podTotal(
  { containers, initContainers, podLevel }: Pod,
  side: keyof Resources,
  resource: ResourceName,
): number | undefined {
  const given = (all: readonly PodContainer[]): number[] =>
    all.flatMap((one) => one[side][resource] ?? []);
  const add = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0);
  const sidecars = containers.filter(({ sidecar }) => sidecar);
  const sums = [
    containers,
    ...initContainers.map((one) => [
      ...sidecars.slice(0, one.sidecarsBefore ?? 0),
      one,
    ]),
  ].map(given).filter(({ length }) => length > 0).map(add);
  return podLevel?.[side][resource] ?? (sums.length === 0 ? undefined : Math.max(...sums));
}

/** Throws 403 when a container of the pod, or the pod, lies outside a LimitRange of its namespace. */
export function checkLimitRanges(store: ObjectStore, pod: Pod): void {
  for (const { type, memory, ...cpu } of itemsFor(store, pod)) {
    for (const [resource, bounds] of [["cpu", cpu], ["memory", memory]] as const) {
      const all: readonly Sizes[] = type === "Pod"
        ? [{
          request: podTotal(pod, "requests", resource),
          limit: podTotal(pod, "limits", resource),
        }]
        : [...pod.containers, ...pod.initContainers].map(({ requests, limits }) => ({
          request: requests[resource],
          limit: limits[resource],
        }));
      for (const sizes of all) {
        const problem = problemOf({ type, ...bounds }, { resource, ...sizes });
        if (problem !== undefined) throw forbidden(pod, problem);
      }
    }
  }
}

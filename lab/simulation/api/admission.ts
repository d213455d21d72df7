/**
 * Checks of a resize at admission beside LimitRanges: size of the node, quotas of the namespace.
 * Source: answers of a kube-apiserver 1.36 (messages shortened).
 *
 * @module
 */
import { ApiError } from "../../../shared/api/api_error.ts";
import {
  type Pod,
  type PodContainer,
  type ResourceAmounts,
  type ResourceName,
  type Resources,
  withResources,
} from "../../../shared/api/pod.ts";
import type {
  BoundedResource,
  LimitRangeBounds,
  LimitRangeItem,
  QuotaBound,
  ResourceQuota,
} from "../../../shared/api/namespace.ts";
import { objectKey } from "../../../shared/control/object_key.ts";
import { quotaCounts } from "../../../shared/resize/checks/resource_quota.ts";
import { invalid, refuseOtherUID } from "./kinds.ts";
import type { ObjectStore } from "./object_store.ts";
import { parseBytes, parseCPU } from "../../../shared/quantity.ts";
import { qosClassOf, qosClassOfPod } from "../../../shared/resize/inputs/qos.ts";
import { defined, mapDefined } from "../../../shared/defined.ts";
import type { Quantities, ResizePatch } from "../../../shared/resize/patch.ts";

/**
 * Throws 403 when the pod asks for more than its whole node has; what others on it ask for is the
 * kubelet's business. A pod on a node that is not in the store is let through: scenes need none.
 */
export function checkNode({ tables }: ObjectStore, pod: Pod): void {
  const { allocatableCPU = Infinity } = tables.Node.get(pod.nodeName) ?? {};
  const requested = totalOf(pod, "requests", "cpu");
  if (requested <= allocatableCPU) return;
  const problem = "node didn't have enough allocatable resources: cpu, " +
    `requested: ${requested}, allocatable: ${allocatableCPU}`;
  const { status, reason, message } = forbidden(pod, problem);
  throw new ApiError(status, reason, message, { causes: ["NodeCapacity"] });
}

function totalOf({ containers }: Pod, side: keyof Resources, resource: ResourceName): number {
  return containers.reduce((sum, container) => sum + (container[side][resource] ?? 0), 0);
}

/** The change that a pod's resize makes to a quota, by resource. */
function changesOf(before: Pod, after: Pod): Readonly<Record<BoundedResource, number>> {
  const change = (side: keyof Resources, resource: ResourceName): number =>
    totalOf(after, side, resource) - totalOf(before, side, resource);
  return {
    "limits.cpu": change("limits", "cpu"),
    "requests.cpu": change("requests", "cpu"),
    "limits.memory": change("limits", "memory"),
    "requests.memory": change("requests", "memory"),
  };
}

function boundsOf({ bounds }: ResourceQuota): readonly (readonly [BoundedResource, QuotaBound])[] {
  return Object.entries(bounds) as [BoundedResource, QuotaBound][];
}

/** The quota with what is used of it after the change. */
function charged(
  quota: ResourceQuota,
  changes: Readonly<Record<BoundedResource, number>>,
): ResourceQuota {
  const bounds = boundsOf(quota).map(([resource, { hard, used }]) =>
    [resource, { hard, used: used + changes[resource] }] as const
  );
  return { ...quota, bounds: Object.fromEntries(bounds) };
}

/** Counts what the pod changes in the namespace's quotas; throws 403 when one is full. */
export function chargeQuotas(
  { tables }: ObjectStore,
  { before, after }: { readonly before: Pod; readonly after: Pod },
): void {
  const changes = changesOf(before, after);
  const quotas = tables.ResourceQuota.all().filter((quota) =>
    quota.metadata.namespace === after.metadata.namespace && quotaCounts(quota, after)
  );
  for (const quota of quotas) {
    for (const [resource, bound] of boundsOf(quota)) {
      const change = changes[resource];
      if (change <= 0 || bound.used + change <= bound.hard) continue;
      const quantityText = (amount: number): string =>
        `${resource}=${amount}${resource.endsWith("cpu") ? "m" : ""}`;
      throw forbidden(
        after,
        `exceeded quota: ${quota.metadata.name}, requested: ${quantityText(change)}, ` +
          `used: ${quantityText(bound.used)}, limited: ${quantityText(bound.hard)}`,
      );
    }
  }
  for (const { metadata } of quotas) {
    tables.ResourceQuota.modify(objectKey(metadata), (quota) => charged(quota, changes));
  }
}

/** The answer of an admission plugin that refuses the pod. */
function forbidden({ metadata }: Pod, problem: string): ApiError {
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
  if (qosClassOfPod(after) !== pod.qosClass) {
    throw invalidPod(pod, "metadata: Invalid value: Pod QOS Class may not change by a resize");
  }
  if (all.some(({ otherResources }, index) => otherResources !== before[index]?.otherResources)) {
    throw invalidPod(pod, "spec: Forbidden: only cpu and memory resources are mutable");
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

type Entry = NonNullable<ResizePatch["spec"]["containers"]>[number];

function invalidPod({ metadata }: Pod, problem: string): ApiError {
  return invalid({ kind: "Pod", metadata }, problem);
}

/** Requests and limits of a container in a patch, millicores and bytes; absent: as they are. */
function askedOf({ name, resources: { limits = {}, requests = {} } }: Entry): Resources {
  try {
    return { requests: amountsOf(requests), limits: amountsOf(limits) };
  } catch (cause) {
    throw new ApiError(400, "BadRequest", `container ${name}: ${String(cause)}`, { cause });
  }
}

function amountsOf({ cpu, memory }: Quantities): ResourceAmounts {
  return defined({ cpu: mapDefined(cpu, parseCPU), memory: mapDefined(memory, parseBytes) });
}

function allAsked(pod: Pod, patch: ResizePatch): ReadonlyMap<string, Resources> {
  const all = new Map<string, Resources>();
  const take = (entries: readonly Entry[] | undefined, sidecar: boolean): void => {
    for (const entry of entries ?? []) {
      const known = pod.containers.some((container) =>
        container.name === entry.name && container.sidecar === sidecar
      );
      if (!known) {
        const list = sidecar ? "initContainers" : "containers";
        throw invalidPod(pod, `spec.${list}: Forbidden: "${entry.name}" can't be added or resized`);
      }
      all.set(entry.name, askedOf(entry));
    }
  };
  take(patch.spec.containers, false);
  take(patch.spec.initContainers, true);
  return all;
}

interface Change {
  readonly asked: Resources | undefined;
  readonly manager: string;
}

const UNITS = [["cpu", "m"], ["memory", ""]] as const;

/**
 * A manager that changes a value takes it from all others; one that sets the present value gets
 * nothing.
 */
function resized(pod: Pod, container: PodContainer, { asked, manager }: Change): PodContainer {
  if (asked === undefined) return container;
  const after = withResources(container, asked);
  const { requests, limits } = after;
  for (const [resource, unit] of UNITS) {
    if ((limits[resource] ?? Infinity) >= (requests[resource] ?? 0)) continue;
    throw invalidPod(
      pod,
      `container "${container.name}": requests: Invalid value: "${requests[resource]}${unit}": ` +
        `must be less than or equal to ${resource} limit of ${limits[resource]}${unit}`,
    );
  }
  const same = UNITS.every(([resource]) =>
    requests[resource] === container.requests[resource] &&
    limits[resource] === container.limits[resource]
  );
  if (same) return container;
  return limits.cpu === container.limits.cpu ? after : { ...after, limitManagers: [manager] };
}

/**
 * The pod as the patch makes it, with `manager` as the owner of its limits. Throws an `ApiError`:
 * 409 when the patch names another version, which is looked at before anything else; 422 when the UID
 * is another one, a container is unknown, a limit is below its request or the QoS class would change;
 * 400 when a quantity is none.
 */
export function resizePod(
  pod: Pod,
  patch: ResizePatch,
  { manager }: { readonly manager: string },
): Pod {
  const { resourceVersion = pod.metadata.resourceVersion } = patch.metadata;
  if (resourceVersion !== pod.metadata.resourceVersion) {
    const { name } = pod.metadata;
    throw new ApiError(
      409,
      "Conflict",
      `Operation cannot be fulfilled on pods "${name}": the object has been modified`,
    );
  }
  refuseOtherUID({ kind: "Pod", metadata: pod.metadata }, patch.metadata.uid);
  const all = allAsked(pod, patch);
  const containers = pod.containers.map((container) =>
    resized(pod, container, { asked: all.get(container.name), manager })
  );
  if (containers.every((container, index) => container === pod.containers[index])) return pod;
  if (qosClassOf([...containers, ...pod.initContainers]) !== pod.qosClass) {
    throw invalidPod(pod, "metadata: Invalid value: Pod QOS Class may not change by a resize");
  }
  const { generation } = pod.metadata;
  const metadata = generation === undefined
    ? pod.metadata
    : { ...pod.metadata, generation: generation + 1 };
  return { ...pod, metadata, containers };
}

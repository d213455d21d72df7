/**
 * Effects of a patch of `pods/resize` in the API server: which it refuses, and what the others change.
 * Source: Kubernetes documentation, "Resize CPU and Memory Resources assigned to Containers", and
 * answers of a kube-apiserver 1.36.
 *
 * @module
 */
import { defined, mapDefined } from "../../../shared/defined.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import {
  type Pod,
  type PodContainer,
  type ResourceAmounts,
  type Resources,
  withResources,
} from "../../../shared/api/pod.ts";
import { parseBytes, parseCPU } from "../../../shared/quantity.ts";
import { qosClassOf } from "../../../shared/resize/inputs/qos.ts";
import type { Quantities, ResizePatch } from "../../../shared/resize/patch.ts";

type Entry = NonNullable<ResizePatch["spec"]["containers"]>[number];

function invalid(pod: Pod, problem: string): ApiError {
  return new ApiError(422, "Invalid", `Pod "${pod.metadata.name}" is invalid: ${problem}`);
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
        throw invalid(pod, `spec.${list}: Forbidden: "${entry.name}" can't be added or resized`);
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
    throw invalid(
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
  if (patch.metadata.uid !== pod.metadata.uid) {
    throw invalid(
      pod,
      `metadata.uid: Invalid value: "${patch.metadata.uid}": field is immutable`,
    );
  }
  const all = allAsked(pod, patch);
  const containers = pod.containers.map((container) =>
    resized(pod, container, { asked: all.get(container.name), manager })
  );
  if (containers.every((container, index) => container === pod.containers[index])) return pod;
  if (qosClassOf([...containers, ...pod.initContainers]) !== pod.qosClass) {
    throw invalid(pod, "metadata: Invalid value: Pod QOS Class may not change by a resize");
  }
  const { generation } = pod.metadata;
  const metadata = generation === undefined
    ? pod.metadata
    : { ...pod.metadata, generation: generation + 1 };
  return { ...pod, metadata, containers };
}

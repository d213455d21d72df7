/**
 * The body of a `pods/resize` patch.
 *
 * @module
 */
import type { Resources } from "../api/pod.ts";
import { formatBytes, formatCPU } from "../quantity.ts";

/** One container's new values, millicores and bytes; what is absent stays as it is. */
export interface ResourceChange extends Resources {
  readonly name: string;
  readonly sidecar: boolean;
}

/** One container's new CPU limit, millicores, with the request where that moves with the limit. */
export interface LimitChange {
  readonly name: string;
  readonly sidecar: boolean;
  readonly limitCPU: number;
  readonly requestCPU?: number;
}

/** Quantities of CPU and memory, as the API has them. */
export interface Quantities {
  readonly cpu?: string;
  readonly memory?: string;
}

/** One container of the patch. */
export interface ContainerResources {
  readonly name: string;
  readonly resources: {
    readonly requests?: Quantities;
    readonly limits?: Quantities;
  };
}

/** Strategic merge patch: lists merge by container name, so only what changes is named. */
export interface ResizePatch {
  /**
   * A pod of the same name with another UID is refused by the server (422, immutable), and so is,
   * before anything else, a pod with another version than the one named here (409).
   */
  readonly metadata: { readonly uid: string; readonly resourceVersion?: string };
  readonly spec: {
    readonly containers?: readonly ContainerResources[];
    readonly initContainers?: readonly ContainerResources[];
  };
}

/** Options of a patch. */
export interface ResizePatchOptions {
  /**
   * The only version of the pod on which the patch counts: a change that its sender has not seen is
   * not overwritten.
   *
   * @default any
   */
  readonly resourceVersion?: string;
}

/** The patch that sets these values on the pod with this UID, and touches nothing else. */
export function resizePatch(
  podUID: string,
  changes: readonly ResourceChange[],
  { resourceVersion }: ResizePatchOptions = {},
): ResizePatch {
  if (changes.length === 0) {
    throw new RangeError("Cannot build a resize patch: no container changes");
  }
  const containers = changes.filter((change) => !change.sidecar).map(containerResources);
  const initContainers = changes.filter((change) => change.sidecar).map(containerResources);
  return {
    metadata: { uid: podUID, ...(resourceVersion === undefined ? {} : { resourceVersion }) },
    spec: {
      ...(containers.length > 0 ? { containers } : {}),
      ...(initContainers.length > 0 ? { initContainers } : {}),
    },
  };
}

/** The container's entry in a patch: the values that are there, and nothing about the others. */
export function containerResources(
  { name, requestCPU, requestMemory, limitCPU, limitMemory }:
    & { readonly name: string }
    & Resources,
): ContainerResources {
  const requests = quantities(requestCPU, requestMemory);
  const limits = quantities(limitCPU, limitMemory);
  return {
    name,
    resources: {
      ...(requests === undefined ? {} : { requests }),
      ...(limits === undefined ? {} : { limits }),
    },
  };
}

function quantities(cpu: number | undefined, memory: number | undefined): Quantities | undefined {
  if (cpu === undefined && memory === undefined) return undefined;
  return {
    ...(cpu === undefined ? {} : { cpu: formatCPU(cpu) }),
    ...(memory === undefined ? {} : { memory: formatBytes(memory) }),
  };
}

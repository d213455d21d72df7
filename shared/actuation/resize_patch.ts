/**
 * The body of a `pods/resize` patch.
 *
 * @module
 */
import { formatCPU } from "../quantity.ts";

/** One container's new CPU limit, millicores. */
export interface LimitChange {
  readonly name: string;
  readonly sidecar: boolean;
  readonly limitCPU: number;
  /** The new request, where it moves with the limit; absent: it stays. */
  readonly requestCPU?: number;
}

/** One container of the patch. */
export interface ContainerResources {
  readonly name: string;
  readonly resources: {
    readonly requests?: { readonly cpu: string };
    readonly limits: { readonly cpu: string };
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

/** The patch that sets these limits on the pod with this UID, and touches nothing else. */
export function resizePatch(
  podUID: string,
  changes: readonly LimitChange[],
  { resourceVersion }: ResizePatchOptions = {},
): ResizePatch {
  if (changes.length === 0) {
    throw new RangeError("Cannot build a resize patch: no container changes");
  }
  const entry = ({ name, limitCPU, requestCPU }: LimitChange): ContainerResources => ({
    name,
    resources: {
      ...(requestCPU === undefined ? {} : { requests: { cpu: formatCPU(requestCPU) } }),
      limits: { cpu: formatCPU(limitCPU) },
    },
  });
  const containers = changes.filter((change) => !change.sidecar).map(entry);
  const initContainers = changes.filter((change) => change.sidecar).map(entry);
  return {
    metadata: { uid: podUID, ...(resourceVersion === undefined ? {} : { resourceVersion }) },
    spec: {
      ...(containers.length > 0 ? { containers } : {}),
      ...(initContainers.length > 0 ? { initContainers } : {}),
    },
  };
}

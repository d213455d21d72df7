/**
 * The body of a `pods/resize` patch, and the port that sends it.
 *
 * @module
 */
import type { Pod, ResourceAmounts, Resources } from "../api/pod.ts";
import { defined, mapDefined } from "../defined.ts";
import { formatBytes, formatCPU } from "../quantity.ts";
import { marketSubject, netChange } from "./inputs/subject.ts";
import { marketManager, RESTORE_MANAGER, RIGHTSIZING_MANAGER } from "./original_limits.ts";

/** One container's new values, millicores and bytes; what is absent stays as it is. */
export interface ResourceChange extends Resources {
  readonly name: string;
  readonly sidecar: boolean;
}

/** One container's new CPU limit, millicores, with the request where that moves with the limit. */
export interface LimitChange extends ResourceChange {
  readonly limits: { readonly cpu: number };
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

/** Options of one resize. */
export interface ResizeOptions {
  /** The field manager of this patch; that of the resizer where it is absent. */
  readonly manager?: string;
  /** The request's ID in the API server's audit log. @default {the server's choice} */
  readonly auditID?: string | undefined;
}

/** Enforces limits: `PATCH pods/{name}/resize`, strategic merge, under one field manager. */
export interface PodResizer {
  /**
   * Resolves with the pod's new resourceVersion. Throws an `ApiError`; 409 with reason `Conflict`
   * when the patch names another version than the pod's, 422 with reason `Invalid` when it names
   * another UID.
   */
  resize(
    namespace: string,
    podName: string,
    patch: ResizePatch,
    options?: ResizeOptions,
  ): Promise<string>;
}

/**
 * Sources own fields: the market owns `limits.cpu` of the pods that it manages, with the request where
 * that moves with the limit; rightsizing owns requests and memory.
 */
export type ClaimSource = "restore" | "manual" | "market" | "rightsizing";

/** Changes of one pod by one source. */
export interface PodChanges {
  /** As it is: changes are compared with its limits. */
  readonly pod: Pod;
  readonly source: ClaimSource;
  /** One at least; only values that differ. */
  readonly changes: readonly ResourceChange[];
  /** The user's original limits, millicores by container name. */
  readonly originals: ReadonlyMap<string, number>;
}

/** Changes that go to the server in one patch. */
export interface PatchPart {
  /** The field manager, which says which source set the values. */
  readonly manager: string;
  /** Changes as they were asked for. */
  readonly changes: readonly ResourceChange[];
  /** True for limits that only make room for a request of the next part. */
  readonly isLift?: true;
  /** True where the patch counts on no version of the pod but the one that was read. */
  readonly pinned: boolean;
}

/**
 * The patches that the changes take: one, or two where values have two owners, since a patch has one
 * field manager.
 *
 * A limit that is the user's own must never be on record as the market's, for a later restore finds
 * nothing to change in it. The part that sets CPU free goes first: between the two patches the pod
 * takes no more than before or after.
 *
 * The server refuses a request above the limit, and of a pod of the market the limit may be below a
 * request that rightsizing wants. Then the limit is raised first, under the market's name, since a value
 * under another name would be taken for the user's own.
 */
export function patchParts(
  { pod, source, changes, originals }: PodChanges,
): readonly PatchPart[] {
  const market = marketManager(pod, originals);
  if (source === "rightsizing") {
    return [
      { manager: market, changes: liftsFor(pod, changes), isLift: true as const, pinned: true },
      { manager: RIGHTSIZING_MANAGER, changes, pinned: false },
    ].filter((part) => part.changes.length > 0);
  }
  const isOwn = ({ name, limits }: ResourceChange): boolean => originals.get(name) === limits.cpu;
  return [
    { manager: RESTORE_MANAGER, changes: changes.filter(isOwn), pinned: true },
    { manager: market, changes: changes.filter((change) => !isOwn(change)), pinned: true },
  ].filter((part) => part.changes.length > 0)
    .sort((a, b) => netLimitChange(pod, a.changes) - netLimitChange(pod, b.changes));
}

/** By how much the changes move the sum of the pod's limits, millicores. */
export function netLimitChange(pod: Pod, changes: readonly ResourceChange[]): number {
  return netChange(marketSubject(pod), new Map(changes.map((change) => [change.name, change])));
}

/** Limits that are below the new request of their container, and that stay otherwise. */
function liftsFor(pod: Pod, changes: readonly ResourceChange[]): readonly ResourceChange[] {
  return changes.flatMap(({ name, sidecar, requests: { cpu }, limits }): ResourceChange[] => {
    const present = pod.containers.find((one) => one.name === name)?.limits.cpu;
    const isBelow = cpu !== undefined && present !== undefined && present < cpu;
    return isBelow && limits.cpu === undefined
      ? [{ name, sidecar, requests: {}, limits: { cpu } }]
      : [];
  });
}

/**
 * The patch that sets these values on the pod with this UID, and touches nothing else. With a version it
 * counts on that version of the pod alone: a change that its sender has not seen is not overwritten.
 */
export function resizePatch(
  uid: string,
  changes: readonly ResourceChange[],
  { resourceVersion }: { readonly resourceVersion?: string } = {},
): ResizePatch {
  if (changes.length === 0) {
    throw new RangeError("Cannot build a resize patch: no container changes");
  }
  const [sidecars, others] = [true, false].map((isSidecar) => {
    const all = changes.filter(({ sidecar }) => sidecar === isSidecar).map(containerResources);
    return all.length > 0 ? all : undefined;
  });
  return {
    metadata: { uid, ...defined({ resourceVersion }) },
    spec: defined({ containers: others, initContainers: sidecars }),
  };
}

/** The container's entry in a patch: the values that are there, and nothing about the others. */
export function containerResources(
  { name, requests, limits }: { readonly name: string } & Resources,
): ContainerResources {
  return {
    name,
    resources: defined({ requests: quantities(requests), limits: quantities(limits) }),
  };
}

function quantities({ cpu, memory }: ResourceAmounts): Quantities | undefined {
  if (cpu === undefined && memory === undefined) return undefined;
  return defined({ cpu: mapDefined(cpu, formatCPU), memory: mapDefined(memory, formatBytes) });
}

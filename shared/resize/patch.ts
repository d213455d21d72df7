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

/** New values of a container, millicores and bytes; an absent value stays as it is. */
export interface ResourceChange extends Resources {
  readonly name: string;
  readonly sidecar: boolean;
}

/** A container's new CPU limit, millicores, with the request where that moves with the limit. */
export interface LimitChange extends ResourceChange {
  readonly limits: { readonly cpu: number };
}

/** Quantities of CPU and memory, as the API has them. */
export interface Quantities {
  readonly cpu?: string;
  readonly memory?: string;
}

/** A container of the patch. */
export interface ContainerResources {
  readonly name: string;
  readonly resources: {
    readonly requests?: Quantities;
    readonly limits?: Quantities;
  };
}

/** Strategic merge patch: lists merge by container name, so only what changes is named. */
export interface ResizePatch {
  /** The server refuses another resourceVersion than the pod's (409), then another UID (422). */
  readonly metadata: { readonly uid: string; readonly resourceVersion?: string };
  readonly spec: {
    readonly containers?: readonly ContainerResources[];
    readonly initContainers?: readonly ContainerResources[];
  };
}

/** Options of one resize. */
export interface ResizeOptions {
  /** The field manager of this patch. @default {the resizer's} */
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
 * The source of changes. The market owns `limits.cpu` of the pods that it manages, with the request where
 * that moves with the limit; rightsizing owns requests and memory.
 */
export type ClaimSource = "restore" | "manual" | "market" | "rightsizing";

/** Changes of one pod by one source. */
export interface PodChanges {
  /** The pod before the changes. */
  readonly pod: Pod;
  readonly source: ClaimSource;
  /** At least one; without values that the pod already has. */
  readonly changes: readonly ResourceChange[];
  /** The user's original limits, millicores by container name. */
  readonly originals: ReadonlyMap<string, number>;
}

/** Changes that go to the server in one patch. */
export interface PatchPart {
  /** The field manager. */
  readonly manager: string;
  readonly changes: readonly ResourceChange[];
  /** True for limits that only make room for a request of the next part. */
  readonly isLift?: true;
  /** True where the patch names the version of the pod that was read. */
  readonly pinned: boolean;
}

/**
 * Divides the changes into patches: one, or two where values have two owners, since a patch has one field
 * manager.
 *
 * A limit at its original value must not stay the market's, since a later restore would find nothing to
 * change. The part that lowers the pod's total goes first, so that the total between the two patches is
 * at most the larger of those before and after.
 *
 * The server refuses a request above the limit, and the market's limit may be below a request of
 * rightsizing. Then the limit is raised first, under the market's name: under another name it would
 * count as the user's.
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

/** The change of the sum of the pod's CPU limits, millicores. */
export function netLimitChange(pod: Pod, changes: readonly ResourceChange[]): number {
  return netChange(marketSubject(pod), new Map(changes.map((change) => [change.name, change])));
}

/** Raises of limits that are below the new request of their container, and not changed themselves. */
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
 * The patch that sets these values on the pod with this UID. With a version the server accepts it for
 * that version of the pod alone, so that it overwrites no change that the sender has not seen.
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

/** The container's entry in a patch, without absent values. */
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

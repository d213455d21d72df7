/**
 * What a kubelet itself knows of a pod, and what it reports of it.
 *
 * @module
 */
import type { Pod, PodContainer, ResizeCondition } from "../shared/api/pod.ts";
import type { PodReport } from "./api/kubelet_link.ts";

/** A container that runs. */
export interface LocalContainer {
  /** Hex id. */
  id: string;
  /** The limit with a quota that is set, millicores. */
  limit: number | undefined;
  /** The request with a weight that is set, millicores. */
  request: number | undefined;
}

/** A pod on the kubelet's node. */
export interface LocalPod {
  readonly uid: string;
  /** By name; empty until the pod was started. */
  readonly containers: Map<string, LocalContainer>;
  /** Names of containers that are to be restarted. */
  readonly restarts: Set<string>;
  /** When what is being prepared happens, ms of the monotonic clock. */
  dueMs: number | undefined;
  /** The last report that reached the API, as JSON. */
  reported: string;
}

const SCHEME = "containerd://";

/** A pod as the kubelet sees it first; one that runs already is taken over as its status says. */
export function adoptPod(
  pod: Pod,
  runtime: { readonly containerID?: (podUID: string, name: string) => string | undefined },
): LocalPod {
  const containers = new Map<string, LocalContainer>();
  if (pod.phase === "Running") {
    for (const { name, containerID, ...container } of pod.containers) {
      if (containerID === undefined) continue;
      const { appliedLimitCPU: limit, requestCPU, appliedRequestCPU } = container;
      const request = appliedRequestCPU ?? requestCPU;
      const id = runtime.containerID?.(pod.metadata.uid, name) ?? containerID.slice(SCHEME.length);
      containers.set(name, { id, limit, request });
    }
  }
  return {
    uid: pod.metadata.uid,
    containers,
    restarts: new Set(),
    dueMs: undefined,
    reported: "",
  };
}

/** Whether a container's limit or request is not the one in the pod's spec. */
export function differs(pod: Pod, { containers }: LocalPod): boolean {
  return pod.containers.some(({ name, limitCPU, requestCPU }) => {
    const local = containers.get(name);
    return (limitCPU !== undefined && limitCPU !== local?.limit) ||
      (requestCPU !== undefined && requestCPU !== local?.request);
  });
}

/**
 * Why the pod as its spec has it does not fit on the node beside the others: what a kubelet says of a
 * resize then. Undefined when it fits. Source: the kubelet's `InsufficientResourceError`.
 */
export function misfit(
  pod: Pod,
  { others, allocatableCPU }: {
    readonly others: Iterable<LocalPod>;
    /** Millicores. */
    readonly allocatableCPU: number;
  },
): ResizeCondition | undefined {
  const requested = pod.containers.reduce((sum, { requestCPU = 0 }) => sum + requestCPU, 0);
  let used = 0;
  for (const { containers } of others) {
    for (const { request = 0 } of containers.values()) used += request;
  }
  if (requested + used <= allocatableCPU) return undefined;
  const message =
    `Node didn't have enough resource: cpu, requested: ${requested}, used: ${used}, ` +
    `capacity: ${allocatableCPU}`;
  return { type: "PodResizePending", reason: "Deferred", message };
}

/** The pod's container with the id that the kubelet gave it. */
export function withLocalID(container: PodContainer, local: LocalPod): PodContainer {
  const id = local.containers.get(container.name)?.id;
  return id === undefined ? container : { ...container, containerID: SCHEME + id };
}

/** What the kubelet reports of a running pod. */
export function reportOf(local: LocalPod, conditions: readonly ResizeCondition[]): PodReport {
  return {
    phase: "Running",
    ready: true,
    resizeConditions: conditions,
    containers: [...local.containers].map(([name, { id, limit, request }]) => ({
      name,
      containerID: SCHEME + id,
      ready: true,
      ...(limit === undefined ? {} : { appliedLimitCPU: limit }),
      ...(request === undefined ? {} : { appliedRequestCPU: request }),
    })),
  };
}

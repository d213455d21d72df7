/**
 * CPU that pods outside of the market hold.
 *
 * @module
 */
import { type ContainerCgroupState, isManaged, type PodState } from "./pod_state.ts";

/** CPU of pods outside of the market. Millicores. */
export interface UnmanagedCPU {
  readonly held: number;
  /** Present usage that gives way as soon as containers with requests want the CPU. */
  readonly yielding: number;
}

/**
 * A pod outside of the market holds the larger of its request and the 95th percentile of its usage over 5
 * minutes; with present usage every clearing would follow every burst of a neighbour. Usage counts only up to
 * what the kernel's weights give the pod on a full node. In a managed pod the same holds for each container
 * without a quota that the bounds do not name (a sandbox holds nothing); a container with a quota bids, or
 * will as soon as it has bounds.
 */
export function unmanagedCPU(
  pods: readonly PodState[],
  { managed, cores }: {
    /** The hex ids of the containers that the bounds name. */
    readonly managed: ReadonlySet<string>;
    /** CPUs of the node. */
    readonly cores: number;
  },
): UnmanagedCPU {
  const requests = pods.reduce((sum, { cgroup }) => sum + (cgroup?.request?.linear ?? 0), 0);
  // On a full node weights give each pod this multiple of its request.
  const perRequest = 1000 * cores / requests;
  const defended = (request: number): number => requests === 0 ? Infinity : perRequest * request;
  const heldFor = (request: number, usage: number): number =>
    Math.max(request, Math.min(usage, defended(request)));
  let held = 0;
  let yielding = 0;
  for (const pod of pods) {
    const { cgroup, containers } = pod;
    const isManagedPod = isManaged(pod, managed);
    let usage = cgroup?.window.percentile() ?? 0;
    for (const container of containers.values()) {
      const { id, quota, window, orphaned } = container;
      if (!isManagedPod && orphaned) usage += window.percentile();
      if (!isManagedPod || quota !== undefined || managed.has(id)) continue;
      held += heldFor(requestOf(container, pod), window.percentile());
    }
    const request = cgroup?.request?.linear;
    if (isManagedPod) continue;
    held += request === undefined ? usage : heldFor(request, usage);
    if (request !== undefined) yielding += Math.max(0, usageNow(pod) - defended(request));
  }
  return { held, yielding };
}

function usageNow({ containers }: PodState): number {
  return containers.values().reduce((sum, { sample }) => sum + (sample?.usage ?? 0), 0);
}

/**
 * The request of a container. Its weight may follow either of two formulas: the one by which the containers'
 * requests add up to the pod's, which is certain.
 */
function requestOf(
  { request }: ContainerCgroupState,
  { cgroup, containers }: PodState,
): number {
  if (request === undefined) return 0;
  const podRequest = cgroup?.request?.linear;
  if (podRequest === undefined) return request.linear;
  let linear = 0;
  let curved = 0;
  for (const container of containers.values()) {
    linear += container.request?.linear ?? 0;
    curved += container.request?.curved ?? 0;
  }
  const isCurved = Math.abs(curved - podRequest) < Math.abs(linear - podRequest);
  return Math.min(podRequest, isCurved ? request.curved : request.linear);
}

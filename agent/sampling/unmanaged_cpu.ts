/**
 * CPU that the market may not share out because others hold it.
 *
 * @module
 */
import { type ContainerCgroupState, isManaged, type PodState } from "./pod_state.ts";

/** CPU of pods outside of the market. Millicores. */
export interface UnmanagedCPU {
  readonly held: number;
  /** Usage now that gives way as soon as containers with requests want the CPU. */
  readonly yielding: number;
}

/**
 * A pod outside of the market holds the larger of its request and the 95th percentile of its usage
 * over 5 minutes; usage alone would make every clearing follow every burst of a neighbour.
 * Usage counts as far as the kernel's weights defend it: CPU that was idle is free for those with
 * requests as soon as they run. Inside a managed pod the same holds for each container without a
 * quota that the bounds do not name (a sandbox holds nothing); one with a quota bids, or will as soon
 * as its bounds are there.
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
  const requests = pods.reduce((sum, { own }) => sum + (own?.request?.linear ?? 0), 0);
  // By weight a request gets this much of its amount while all CPU is used.
  const perRequest = 1000 * cores / requests;
  const defended = (request: number): number => requests === 0 ? Infinity : perRequest * request;
  const heldFor = (request: number, usage: number): number =>
    Math.max(request, Math.min(usage, defended(request)));
  let held = 0;
  let yielding = 0;
  for (const pod of pods) {
    const { own, containers } = pod;
    const isIn = isManaged(pod, managed);
    let usage = own?.window.percentile() ?? 0;
    for (const container of containers.values()) {
      const { id, quota, window, orphaned } = container;
      if (!isIn && orphaned) usage += window.percentile();
      if (!isIn || quota !== undefined || managed.has(id)) continue;
      held += heldFor(requestOfSibling(container, pod), window.percentile());
    }
    const request = own?.request?.linear;
    if (isIn) continue;
    held += request === undefined ? usage : heldFor(request, usage);
    if (request !== undefined) yielding += Math.max(0, usageNow(pod) - defended(request));
  }
  return { held, yielding };
}

function usageNow({ containers }: PodState): number {
  return containers.values().reduce((sum, { sample }) => sum + (sample?.usage ?? 0), 0);
}

/**
 * The pod's request is certain, a container's weight may follow either of two formulas. The runtime's
 * is the one that makes the containers' requests add up to the pod's.
 */
function requestOfSibling(
  { request }: ContainerCgroupState,
  { own, containers }: PodState,
): number {
  if (request === undefined) return 0;
  const whole = own?.request?.linear;
  if (whole === undefined) return request.linear;
  let linear = 0;
  let curved = 0;
  for (const container of containers.values()) {
    linear += container.request?.linear ?? 0;
    curved += container.request?.curved ?? 0;
  }
  const isCurved = Math.abs(curved - whole) < Math.abs(linear - whole);
  return Math.min(whole, isCurved ? request.curved : request.linear);
}

/**
 * CPU that the market may not share out because somebody outside of it holds it.
 *
 * @module
 */
import { ON_TIME } from "./on_time.ts";
import type { UnmanagedShare, WatchedContainer, WatchedPod } from "./watched_pod.ts";

/**
 * Whether the market knows this pod: its bounds name one of its containers, or one that was in it a
 * moment ago. So a pod whose only container restarts stays managed while its bounds catch up, and
 * one that opts out is not from the moment in which its bounds are gone.
 */
export function isManaged(pod: WatchedPod, named: ReadonlySet<string>): boolean {
  for (const id of pod.containers.keys()) if (named.has(id)) return true;
  return pod.formerIDs.some((id) => named.has(id));
}

/** What the CPU that a pod holds depends on, beside the pod. */
export interface Holding {
  /** The containers that the bounds name. */
  readonly named: ReadonlySet<string>;
  /** CPU of the node / requests of all its pods: what weights leave a request while all CPU is used. */
  readonly perRequest: number;
}

/**
 * Millicores. A pod outside of the market holds the larger of its request and the 95th percentile of
 * its usage over 5 minutes; usage alone would make every clearing follow every neighbour's breath.
 * Usage counts as far as the kernel's weights defend it: CPU that was idle is free for those with
 * requests as soon as they run. Inside a managed pod the same holds for each container without a quota that the bounds do not
 * name (a sandbox holds nothing); one with a quota bids, or will as soon as its bounds are there.
 */
export function unmanagedCPU(pod: WatchedPod, { named, perRequest }: Holding): number {
  if (!isManaged(pod, named)) return heldByPod(pod, perRequest);
  let held = 0;
  for (const container of pod.containers.values()) {
    if (container.quota !== undefined || named.has(container.id)) continue;
    const request = requestOfSibling(container, pod);
    held += heldCPU(request, { usage: container.window.percentile(), perRequest });
  }
  return held;
}

/** Percentiles over minutes are worked out anew this often, milliseconds. */
export const RENEWED_MS = 5000;

/** A pod's part, as worked out lately. */
export function unmanagedShare(
  pod: WatchedPod,
  { at, ...holding }: Holding & { readonly at: number },
): UnmanagedShare {
  const { named } = holding;
  const known = pod.unmanaged;
  const fresh = known?.named === named && at >= known.at && at - known.at < RENEWED_MS * ON_TIME;
  if (fresh && known !== undefined) return known;
  const share = {
    named,
    managed: isManaged(pod, named),
    millicores: unmanagedCPU(pod, holding),
    at,
  };
  pod.unmanaged = share;
  return share;
}

/** CPU of the node / requests of its pods; where there are none, no number that anything exceeds. */
export function perRequest(pods: Iterable<WatchedPod>, cores: number): number {
  let requests = 0;
  for (const { own } of pods) requests += own?.request?.linear ?? 0;
  return 1000 * cores / requests;
}

function heldByPod({ own, containers }: WatchedPod, perRequest: number): number {
  let usage = own?.window.percentile() ?? 0;
  for (const { stray, window } of containers.values()) if (stray) usage += window.percentile();
  const request = own?.request?.linear;
  return request === undefined ? usage : heldCPU(request, { usage, perRequest });
}

function heldCPU(
  request: number,
  { usage, perRequest }: { readonly usage: number; readonly perRequest: number },
): number {
  const defended = perRequest * request;
  return Math.max(request, usage > defended ? defended : usage);
}

/**
 * The pod's request is certain, a container's weight may follow either of two formulas. The one whose
 * requests add up to the pod's is the runtime's.
 */
function requestOfSibling({ request }: WatchedContainer, { own, containers }: WatchedPod): number {
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

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

/**
 * Millicores. A pod outside of the market holds the larger of its request and the 95th percentile of
 * its usage over 5 minutes; usage alone would make every clearing follow every neighbour's breath.
 * Inside a managed pod the same holds for each container without a quota that the bounds do not
 * name (a sandbox holds nothing); one with a quota bids, or will as soon as its bounds are there.
 */
export function unmanagedCPU(pod: WatchedPod, named: ReadonlySet<string>): number {
  if (!isManaged(pod, named)) return heldByPod(pod);
  let held = 0;
  for (const container of pod.containers.values()) {
    if (container.quota !== undefined || named.has(container.id)) continue;
    held += Math.max(requestOfSibling(container, pod), container.window.percentile());
  }
  return held;
}

/** Percentiles over minutes are worked out anew this often, milliseconds. */
export const RENEWED_MS = 5000;

/** A pod's part, as worked out lately. */
export function unmanagedShare(
  pod: WatchedPod,
  { at, named }: { readonly at: number; readonly named: ReadonlySet<string> },
): UnmanagedShare {
  const known = pod.unmanaged;
  const fresh = known?.named === named && at >= known.at && at - known.at < RENEWED_MS * ON_TIME;
  if (fresh && known !== undefined) return known;
  const share = { named, managed: isManaged(pod, named), millicores: unmanagedCPU(pod, named), at };
  pod.unmanaged = share;
  return share;
}

function heldByPod({ own, containers }: WatchedPod): number {
  let outside = 0;
  for (const { stray, window } of containers.values()) if (stray) outside += window.percentile();
  return Math.max(own?.request?.linear ?? 0, (own?.window.percentile() ?? 0) + outside);
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

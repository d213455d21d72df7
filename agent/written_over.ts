/**
 * Whether somebody else has written over what the agent said, and when to say it again.
 *
 * A copy tells only if it is at least as new as the server's answer to the agent's own write: an older
 * one, of a slow watch, shows what stood there before. Who writes again and again is answered later
 * and later, since neither will give in.
 *
 * @module
 */
import type { Desired, PodAllocation } from "../shared/api/pod_allocation.ts";
import { isAtLeast } from "../shared/control/resource_version.ts";

/** What was last said, and to which object. Times are ms of the monotonic clock. */
export interface Written {
  readonly uid: string;
  readonly desired: Desired;
  /** Version of the copy that it was said to. */
  readonly from: string;
  /** When the server took it, and the version that has it; absent while it is on its way. */
  readonly sent?: { readonly at: number; readonly version: string };
  /** Set once something was said again. */
  readonly repeats?: Repeats;
}

/** How often something was said again of late, and when the last time was. */
export interface Repeats {
  readonly count: number;
  readonly at: number;
}

/** The first repeat comes this long after the write, ms, each one later by twice that before it. */
export const REPEAT_MS = 5000;
/** But none later than this after the one before it, ms. */
export const LONGEST_REPEAT_MS = 300_000;
/** After so long without one, ms, the next is a first one again. */
const FORGIVEN_MS = 2 * LONGEST_REPEAT_MS;

/**
 * What a repeat would count as, if one is due: the copy is as new as what was written, and says
 * something else.
 */
export function repeatFor(
  { desired, from, sent, repeats }: Written,
  { allocation, now }: { readonly allocation: PodAllocation; readonly now: number },
): Repeats | undefined {
  if (sent === undefined || now - sent.at < REPEAT_MS) return undefined;
  const { metadata: { resourceVersion }, spec } = allocation;
  const isCurrent = isAtLeast(resourceVersion, sent.version) ?? resourceVersion !== from;
  if (!isCurrent || says(spec, desired)) return undefined;
  if (repeats === undefined || now - repeats.at >= FORGIVEN_MS) return { count: 1, at: now };
  const { count, at } = repeats;
  const waitMs = Math.min(LONGEST_REPEAT_MS, REPEAT_MS * 2 ** Math.min(count, 1000));
  return now - at < waitMs ? undefined : { count: count + 1, at: now };
}

/** True when the spec has the limits and the revision that were written. */
function says({ containers = [], market }: Desired, written: Desired): boolean {
  const wanted = written.containers ?? [];
  return market?.observedBounds === written.market?.observedBounds &&
    containers.length === wanted.length &&
    wanted.every(({ name, cpuLimit }) =>
      containers.some((one) => one.name === name && one.cpuLimit === cpuLimit)
    );
}

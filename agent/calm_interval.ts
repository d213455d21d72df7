/**
 * When what a container used says all there is to say of an interval.
 *
 * @module
 */
import type { WatchedContainer } from "./watched_pod.ts";

/**
 * A container that used less of its quota for one period than this was not throttled. Half, because
 * CPUs take the quota in slices, of which some may lie unused on other CPUs when it runs out.
 */
const CALM_SHARE = { stays: 0.5, becomes: 0.25 } as const;
/** One that was throttled is not calm for this long, whatever it uses. */
const THROTTLED_MS = 2000;

/** Whether a container can't have been throttled in an interval, by what it used. */
export function isCalmInterval(
  { quota, periodMs, throttledAt, calm }: WatchedContainer,
  { at, usageMs }: { readonly at: number; readonly usageMs: number },
): boolean {
  if (quota === undefined) return true;
  const share = calm ? CALM_SHARE.stays : CALM_SHARE.becomes;
  return at - throttledAt > THROTTLED_MS && usageMs < share * quota / 1000 * periodMs;
}

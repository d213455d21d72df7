/**
 * Sentences on what stands between a limit and its share.
 *
 * @module
 */
import { lowerWait } from "./decrease.ts";
import type { PaceOptions } from "./pace_options.ts";
import type { PacedContainer } from "./paced_container.ts";
import { isLargeRaise, isLastRaise, rationedHysteresis } from "./raise.ts";

/** The part of a container that the answer depends on. */
export type WaitingContainer = Pick<
  PacedContainer,
  "memory" | "need" | "share" | "ceiling" | "throttledMsPerS"
>;

const MS_PER_S = 1000;

/**
 * Why the limit is not at its share after the changes at the monotonic time `now`, ms; undefined
 * when it is there. It follows the checks of `planChanges`, in that order: a limit of 200 m with
 * a share of 800 m that was raised 300 ms ago gives "raise to 800m waits 1 s after the last".
 */
export function whyWaiting(
  container: WaitingContainer,
  { now, options }: { readonly now: number; readonly options: PaceOptions },
): string | undefined {
  const { memory: { limit }, share } = container;
  if (share > limit) return raiseWaits(container, { now, options });
  if (share < limit) return decreaseWaits(container, { now, options });
  return undefined;
}

type Context = { readonly now: number; readonly options: PaceOptions };

function raiseWaits(container: WaitingContainer, { now, options }: Context): string {
  const { memory, share } = container;
  const raise = `raise to ${show(share)}`;
  const isLarge = isLargeRaise(container, share, { now, options });
  if (!isLarge && !isLastRaise(container)) {
    const hysteresis = rationedHysteresis(container, options.raiseHysteresis, { now });
    return `${raise} is within the hysteresis of ${percent(hysteresis)}`;
  }
  const left = secondsLeft(memory.raisedAt, { now, waitMs: options.raiseGapMs });
  if (left > 0) return `${raise} waits ${left} s after the last`;
  return isLarge ? `${raise} waits for funds` : `${raise} waits until free CPU suffices`;
}

function decreaseWaits({ memory, share }: WaitingContainer, { now, options }: Context): string {
  const { limit, lower, since } = memory;
  const decrease = `decrease to ${show(lower?.highest ?? share)}`;
  if (share >= limit * (1 - options.lowerHysteresis)) {
    return `${decrease} is within the hysteresis of ${percent(options.lowerHysteresis)}`;
  }
  const waits = secondsLeft(lower?.since ?? now, { now, waitMs: lowerWait(memory, options) });
  const warmsUp = secondsLeft(since, { now, waitMs: options.warmUpMs });
  return warmsUp > waits
    ? `${decrease} waits ${warmsUp} s: the readings are young`
    : `${decrease} waits ${waits} s`;
}

/** Whole seconds, rounded up, until `waitMs` have passed since `from`. */
function secondsLeft(from: number, { now, waitMs }: { now: number; waitMs: number }): number {
  return Math.max(0, Math.ceil((from + waitMs - now) / MS_PER_S));
}

function show(millicores: number): string {
  return `${Math.round(millicores)}m`;
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

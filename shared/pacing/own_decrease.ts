/**
 * A decrease that comes from the container's own lower demand.
 *
 * @module
 */
import type { PaceOptions } from "./pace_options.ts";
import type { PacedContainer, PaceMemory } from "./paced_container.ts";

/**
 * Usage is averaged, so a fall shows whole only after a while: what the share was in this first share
 * of the wait, and in these ms at least, is on the way down.
 */
const FALL_SHARE = 1 / 3;
const LEAST_FALL_MS = 2500;
/** A trial showed nothing when the share is back at the limit before it, or this little above. */
const BACK_AT = 1.1;

/** How long the share must have stayed lower, ms. */
export function lowerWait(
  { trialFrom, lower }: Pick<PaceMemory, "trialFrom" | "lower">,
  { lowerWaitMs, trialWaitMs }: Pick<PaceOptions, "lowerWaitMs" | "trialWaitMs">,
): number {
  if (trialFrom === undefined || lower === undefined) return lowerWaitMs;
  return lower.highest <= trialFrom * BACK_AT ? trialWaitMs : lowerWaitMs;
}

/**
 * Follows a share that is clearly below the limit. Returns what to remember, and the limit to go
 * to once the share has stayed below for the whole wait: the highest share of its last two
 * thirds, in one step, so that a drop of any size settles in one change.
 */
export function followLowerTarget(
  container: PacedContainer,
  now: number,
  options: PaceOptions,
): { lower: PaceMemory["lower"]; limit?: number } {
  const { memory, share } = container;
  if (share >= memory.limit * (1 - options.lowerHysteresis)) return { lower: undefined };
  const since = memory.lower?.since ?? now;
  const isFalling = now - since < Math.max(LEAST_FALL_MS, FALL_SHARE * options.lowerWaitMs);
  const lower = {
    since,
    highest: isFalling ? share : Math.max(memory.lower?.highest ?? 0, share),
  };
  const { trialFrom } = memory;
  const waited = now - lower.since >= lowerWait({ trialFrom, lower }, options);
  const warm = now - memory.since >= options.warmUpMs;
  return waited && warm ? { lower, limit: lower.highest } : { lower };
}

/**
 * Decreases: for a container's own lower demand, and for raises of others.
 *
 * @module
 */
import { GRID } from "../quantity.ts";
import type { PacedContainer, PaceMemory, PaceOptions } from "./paced_container.ts";
import { rationedHysteresis } from "./raise.ts";

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
 * thirds, in one step, so that a drop of any size needs one change.
 */
export function followLowerTarget(
  { memory, share }: PacedContainer,
  now: number,
  options: PaceOptions,
): { lower: PaceMemory["lower"]; limit?: number } {
  if (share >= memory.limit * (1 - options.lowerHysteresis)) return { lower: undefined };
  const since = memory.lower?.since ?? now;
  const isFalling = now - since < Math.max(LEAST_FALL_MS, FALL_SHARE * options.lowerWaitMs);
  const highest = isFalling ? share : Math.max(memory.lower?.highest ?? 0, share);
  const lower = { since, highest };
  const waited = now - since >= lowerWait({ ...memory, lower }, options);
  const isWarm = now - memory.since >= options.warmUpMs;
  return waited && isWarm ? { lower, limit: highest } : { lower };
}

/**
 * The containers that are lowered towards their shares so that `shortage` millicores become free, and
 * their new limits, the largest surplus first: few are touched. Each gives what is missing, at least a
 * hysteresis of its limit (less would not be worth a change) and at most its surplus. Left out, so
 * that some of the shortage may remain: a container that is warming up, one that paid less than
 * `fundingGapMs` ago, and a surplus of one step of the grid, which rounding may give back at once.
 */
export function fundRaises(
  containers: readonly PacedContainer[],
  shortage: number,
  { now, options }: { now: number; options: PaceOptions },
): Map<PacedContainer, number> {
  const { lowerHysteresis, warmUpMs, fundingGapMs } = options;
  const surplus = ({ memory, share }: PacedContainer): number => memory.limit - share;
  const able = containers.filter((container) => {
    const { limit, since, fundedAt } = container.memory;
    const least = limit * rationedHysteresis(container, lowerHysteresis, { now });
    return surplus(container) > Math.max(least, GRID) && now - since >= warmUpMs &&
      now - fundedAt >= fundingGapMs;
  }).sort((a, b) => surplus(b) - surplus(a));
  const payments = new Map<PacedContainer, number>();
  let missing = shortage;
  for (const container of able) {
    if (missing <= 0) break;
    const { memory: { limit }, share } = container;
    const asked = Math.max(missing, limit * lowerHysteresis);
    const paid = Math.ceil(Math.min(surplus(container), asked) / GRID) * GRID;
    payments.set(container, Math.max(share, limit - paid));
    missing -= paid;
  }
  return payments;
}

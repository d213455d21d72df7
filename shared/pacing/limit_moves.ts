/**
 * Which raises and decreases of a limit are worth a change, how free CPU is split among raises, and which
 * containers pay for those that wait.
 *
 * @module
 */
import type { PaceMemory } from "../market/market_container.ts";
import { isAtCeiling } from "../market/rounding.ts";
import { clearMarket } from "../market/solver.ts";
import { GRID } from "../quantity.ts";
import { isThrottled, type PacedContainer, type PaceOptions } from "./paced_container.ts";

/** Hysteresis of a container that gets too little fades with this time constant after a change, … */
const REST_MS = 60_000;
/** … down to this share of the limit. */
const LEAST_HYSTERESIS = 0.02;

/** The part of a container that says why its limit rests, or when it moves. */
export type DelayedLimit = Pick<
  PacedContainer,
  "memory" | "share" | "need" | "ceiling" | "throttledMsPerS"
>;

/**
 * The hysteresis, a share of the limit, that holds for a container at the monotonic time `now`, ms:
 * `usual` where its share is all that it needs. Where it is less, the clearing divides what there is,
 * and where the container is throttled below its ceiling, its need is at least that: a difference that
 * hysteresis keeps is unfair for as long as nothing else changes, so it shrinks while the limit rests.
 * A need moves all the time, a ration with its price only, a ceiling not at all, so few changes follow.
 */
export function rationedHysteresis(
  container: DelayedLimit,
  usual: number,
  { now }: { readonly now: number },
): number {
  const { memory, share, need } = container;
  if (share >= need && !isRaiseToCeiling(container)) return usual;
  const rested = usual * Math.exp(-(now - memory.changedAt) / REST_MS);
  return Math.min(usual, Math.max(LEAST_HYSTERESIS, rested));
}

/**
 * Whether a raise to `limit`, millicores, relieves enough for others to pay for it. Rounding gives a
 * step of the grid now to one and now to another: no container that gets too little is raised for that.
 */
export function isLargeRaise(
  container: DelayedLimit,
  limit: number,
  { now, options: { raiseHysteresis } }: { readonly now: number; readonly options: PaceOptions },
): boolean {
  const present = container.memory.limit;
  const hysteresis = rationedHysteresis(container, raiseHysteresis, { now });
  return limit > present * (1 + hysteresis) &&
    (hysteresis === raiseHysteresis || limit > present + GRID);
}

/**
 * Whether the clearing gives a throttled container all that its ceiling allows, however little more
 * that is. A first raise may end shortly below the ceiling; within the hysteresis no other would
 * follow while the container is busy. Until the hysteresis has shrunk it comes from free CPU only, so
 * that no container pays.
 */
export function isRaiseToCeiling(
  container: Omit<DelayedLimit, "need">,
): boolean {
  const { memory, share, ceiling } = container;
  return share > memory.limit && isAtCeiling({ limit: share, ceiling }) && isThrottled(container);
}

/** A raise that is needed. Millicores. */
export interface RaiseRequest {
  readonly container: PacedContainer;
  /** The limit that it goes to if it is granted whole. */
  readonly wanted: number;
  /** Free CPU that the whole raise takes. */
  readonly cost: number;
}

/**
 * Splits `free` CPU among raises: all of it where there is enough, otherwise by weight, proportionally
 * fair, rounded down to the grid. A part that would cost a change and relieve nothing is not given:
 * the lightest of those raises waits, and the others are granted anew, or each would get too little
 * for ever. Raises that wait come first, without a limit. `granted` is the free CPU that each takes.
 */
export function grantRaises(
  requests: readonly RaiseRequest[],
  free: number,
  { now, options }: { readonly now: number; readonly options: PaceOptions },
): (RaiseRequest & { readonly limit?: number; readonly granted: number })[] {
  const bids = requests.map(({ cost, container: { weight } }) => ({
    ...{ weight, floor: 0, ceiling: cost, demand: cost },
  }));
  const { mode, shares } = clearMarket(bids, Math.max(0, free));
  const grants = requests.map((request, i) => {
    const { wanted, cost } = request;
    const granted = mode === "uncongested" ? cost : Math.floor((shares[i] ?? 0) / GRID) * GRID;
    // The commitment of a container need not lie on the grid; the limit that it gets has to.
    const part = Math.floor((wanted - (cost - granted)) / GRID) * GRID;
    return { ...request, limit: granted === cost ? wanted : part, granted };
  });
  const [first, ...rest] = requests.filter(({ container }, i) =>
    !isLargeRaise(container, grants[i]?.limit ?? 0, { now, options })
  );
  if (first === undefined) return grants;
  const lightest = rest.reduce((a, b) => b.container.weight < a.container.weight ? b : a, first);
  const others = requests.filter((request) => request !== lightest);
  return [{ ...lightest, granted: 0 }, ...grantRaises(others, free, { now, options })];
}

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

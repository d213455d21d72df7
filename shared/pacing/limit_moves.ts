/**
 * Which raises and decreases are worth a change, how free CPU is split among raises, and which containers
 * are lowered for raises that wait.
 *
 * @module
 */
import type { PaceMemory } from "../market/market_container.ts";
import { isAtCeiling } from "../market/rounding.ts";
import { clearMarket } from "../market/solver.ts";
import { GRID } from "../quantity.ts";
import { isThrottled, type PacedContainer, type PaceOptions } from "./paced_container.ts";

/** After a change, hysteresis of a container that needs more fades with this time constant … */
const REST_MS = 60_000;
/** … down to this share of the limit. */
const LEAST_HYSTERESIS = 0.02;

/** The fields of a container that decide whether its limit moves. */
export type DelayedLimit = Pick<
  PacedContainer,
  "memory" | "share" | "need" | "ceiling" | "throttledMsPerS"
>;

/**
 * The hysteresis of a container at the monotonic time `now`, ms, as a share of the limit: `usual` where
 * the share is all that it needs. It fades while the limit rests where the container gets less than its
 * need, or is throttled and may go to its ceiling: otherwise the missing part would be lacking for as
 * long as nothing else changes. Few changes follow, since such shares move only with the price.
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
 * Whether a raise to `limit`, millicores, exceeds the hysteresis; a faded one also by more than one grid
 * step, since rounding moves a step between containers from clearing to clearing.
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
 * Whether the clearing raises a throttled container to its ceiling, by however little. Without this
 * exception a raise that ends just below the ceiling would not be followed by another one. Until the
 * hysteresis has faded, only free CPU is used for it.
 */
export function isRaiseToCeiling(container: Omit<DelayedLimit, "need">): boolean {
  const { memory, share, ceiling } = container;
  return share > memory.limit && isAtCeiling({ limit: share, ceiling }) && isThrottled(container);
}

/** A raise that is needed. Millicores. */
export interface RaiseRequest {
  readonly container: PacedContainer;
  /** The limit if the raise is granted whole. */
  readonly wanted: number;
  /** Free CPU that the whole raise takes. */
  readonly cost: number;
}

/**
 * Splits `free` CPU among raises: whole raises where there is enough, otherwise parts by weight, rounded
 * down to the grid. If parts are too small for a change, the one with the least weight waits, and the
 * others are granted again; otherwise each could get too little for ever. The result begins with the
 * raises that wait, without a limit. `granted` is the free CPU that a raise takes.
 */
export function grantRaises(
  requests: readonly RaiseRequest[],
  free: number,
  { now, options }: { readonly now: number; readonly options: PaceOptions },
): (RaiseRequest & { readonly limit?: number; readonly granted: number })[] {
  const bids = requests.map(({ cost, container: { weight } }) => ({
    weight,
    floor: 0,
    ceiling: cost,
    demand: cost,
  }));
  const { mode, shares } = clearMarket(bids, Math.max(0, free));
  const grants = requests.map((request, i) => {
    const { wanted, cost } = request;
    const granted = mode === "uncongested" ? cost : Math.floor((shares[i] ?? 0) / GRID) * GRID;
    // The commitment of a container may be off the grid, its limit may not.
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
 * Usage is averaged, so that the share still falls in this first part of the wait, and for at least this
 * time, ms: shares of that time do not count.
 */
const FALL_SHARE = 1 / 3;
const LEAST_FALL_MS = 2500;
/** A trial showed no need when the share is at most this factor above the limit before it. */
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
 * Follows a share that is clearly below the limit. Returns the state to remember, and the new limit once
 * the share has stayed below for the whole wait: the highest share of the last two thirds of the wait, so
 * that a drop of any size needs one change.
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
 * The new limits of containers that are lowered towards their shares so that `shortage` millicores become
 * free, the largest surplus first, so that few are changed. Each gives what is missing, at least the
 * hysteresis of its limit and at most its surplus. A container is left out while it warms up, within
 * `fundingGapMs` of its last payment, and with a surplus of one grid step, which rounding may return at
 * once; so some of the shortage may remain.
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

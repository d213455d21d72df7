/**
 * Which raises are worth a change of a limit, and how free CPU is split among them.
 *
 * @module
 */
import { clearMarket } from "../market/solver.ts";
import { GRID } from "../quantity.ts";
import { isThrottled, type PacedContainer, type PaceOptions } from "./paced_container.ts";

/** Hysteresis of a rationed container fades with this time constant after a change, … */
const REST_MS = 60_000;
/** … down to this share of the limit. */
const LEAST_HYSTERESIS = 0.02;

/**
 * The hysteresis, a share of the limit, that holds for a container at the monotonic time `now`, ms:
 * `usual` where its share is all that it needs. Where it is less, the clearing divides what there is,
 * and a difference that hysteresis keeps is unfair for as long as nothing else changes: it shrinks
 * while the limit rests. A need moves all the time, a ration with its price only, so few changes follow.
 */
export function rationedHysteresis(
  { memory, share, need }: Pick<PacedContainer, "memory" | "share" | "need">,
  usual: number,
  { now }: { readonly now: number },
): number {
  if (share >= need) return usual;
  const rested = usual * Math.exp(-(now - memory.changedAt) / REST_MS);
  return Math.min(usual, Math.max(LEAST_HYSTERESIS, rested));
}

/**
 * Whether a raise to `limit`, millicores, relieves enough for others to pay for it. Rounding gives a
 * step of the grid now to one and now to another: no container that is rationed is raised for that.
 */
export function isLargeRaise(
  container: Pick<PacedContainer, "memory" | "share" | "need">,
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
 * follow while the container is busy. It comes from free CPU only, so that no container pays.
 */
export function isLastRaise(
  container: Pick<PacedContainer, "memory" | "share" | "ceiling" | "throttledMsPerS">,
): boolean {
  const { memory, share, ceiling } = container;
  return share > memory.limit && share > ceiling - GRID && isThrottled(container);
}

/** A raise that is needed. Millicores. */
export interface RaiseRequest {
  readonly container: PacedContainer;
  /** The limit that it goes to if it is granted whole. */
  readonly wanted: number;
  /** Free CPU that the whole raise takes. */
  readonly cost: number;
}

/** What becomes of such a raise. Millicores. */
export interface RaiseGrant extends RaiseRequest {
  /** Absent while the raise waits. */
  readonly limit?: number;
  /** Free CPU that it takes. */
  readonly granted: number;
}

/**
 * Splits `free` CPU among raises: all of it where there is enough, otherwise by weight, proportionally
 * fair, rounded down to the grid. A part that would cost a change and relieve nothing is not given:
 * the lightest of those raises waits, and the others are granted anew, or each would get too little
 * for ever. Raises that wait come first.
 */
export function grantRaises(
  requests: readonly RaiseRequest[],
  free: number,
  { now, options }: { readonly now: number; readonly options: PaceOptions },
): RaiseGrant[] {
  const bids = requests.map(({ cost, container: { weight } }) => ({
    ...{ weight, floor: 0, ceiling: cost, demand: cost },
  }));
  const { mode, shares } = clearMarket(bids, Math.max(0, free));
  const grants = requests.map((request, i) => {
    const { wanted, cost } = request;
    const granted = mode === "uncongested" ? cost : Math.floor((shares[i] ?? 0) / GRID) * GRID;
    // What a container is committed with need not lie on the grid; the limit that it gets has to.
    const part = Math.floor((wanted - (cost - granted)) / GRID) * GRID;
    return { request, limit: granted === cost ? wanted : part, granted };
  });
  const poor = grants
    .filter(({ request, limit }) => !isLargeRaise(request.container, limit, { now, options }))
    .map(({ request }) => request);
  const [first, ...rest] = poor;
  if (first === undefined) {
    return grants.map(({ request, limit, granted }) => ({ ...request, limit, granted }));
  }
  const lightest = rest.reduce((a, b) => b.container.weight < a.container.weight ? b : a, first);
  const others = requests.filter((request) => request !== lightest);
  return [{ ...lightest, granted: 0 }, ...grantRaises(others, free, { now, options })];
}

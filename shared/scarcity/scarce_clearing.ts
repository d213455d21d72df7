/**
 * How a node's CPU is divided while it is scarce.
 *
 * @module
 */
import {
  type MarketContainer,
  type PaceMemory,
  type RecentLoad,
  WAITS,
} from "../market/market_container.ts";
import { roundShares, upToGrid } from "../market/rounding.ts";
import { type Clearing, clearMarket } from "../market/solver.ts";
import { GRID } from "../quantity.ts";

/** A container that runs. A limit that may bind lets its usage show its demand only in part. */
export type ScarceBidder =
  & Pick<MarketContainer, "ceiling" | "weight" | "request" | "originalLimit" | "demand">
  & { readonly load: RecentLoad; readonly memory: Pick<PaceMemory, "limit"> };

/** Outcome of a clearing for a container. Millicores; bids and shares of a step and more on the grid. */
export interface ScarceShare {
  readonly bid: number;
  /** At most the bid. */
  readonly share: number;
  /**
   * Its part if every container bid for more than there is; its original limit if that is
   * more and all bids fit within original limits.
   */
  readonly part: number;
  /** Share of the time in which it waits for CPU; without PSI 1 or 0, by what weights leave it. */
  readonly waiting: number;
}

/** A container with a limit that does not bind bids this much above its usage, so that it can grow. */
const GROWTH = 1.05;
/** A limit below the ceiling binds from this share of it on that is used, and hides what would be. */
const BINDS = 0.8;
/**
 * One that waits for CPU bids this much more, within its part. So does any container without PSI, and
 * there one that waits bids its part: what it used until now does not show a burst.
 */
const STARVED_GROWTH = 2;
/**
 * Share of the capacity that is divided: 97 %, where the capacity is 90 % of the node. To divide less
 * makes a price out of rounding, on a node that still has CPU to give.
 */
export const DIVIDED = 1.08;

/**
 * Divides 1.08 × `capacity`, millicores, among the bids by weight. Bids above the limits that users
 * set count only after every bid has what it asks for within its own: a container gets less than
 * min(bid, original limit) only while none gets more than that. Σ shares is at most what is divided.
 */
export function clearScarce(
  bidders: readonly ScarceBidder[],
  capacity: number,
): Pick<Clearing, "mode" | "price"> & { readonly shares: readonly ScarceShare[] } {
  const divided = DIVIDED * capacity;
  const weights = bidders.reduce((sum, { weight }) => sum + weight, 0);
  const waiting = waitingOf(bidders, capacity);
  const all = bidders.map((bidder, i) => {
    const { weight, originalLimit } = bidder;
    const part = divided * weight / weights;
    const owed = Math.max(part, Math.min(originalLimit, divided));
    const waits = waiting[i] as number;
    const bid = bidOf(bidder, { part: owed, waiting: waits });
    return { bid, weight, part, owed, waiting: waits, least: Math.min(bid, originalLimit) };
  });
  const fits = all.reduce((sum, { least }) => sum + least, 0) <= divided;
  const { mode, price, shares } = clearMarket(
    all.map(({ weight, bid, least }) =>
      fits
        ? { weight, floor: least, ceiling: bid, demand: bid }
        : { weight, floor: 0, ceiling: least, demand: least }
    ),
    divided,
  );
  const bounds = all.map(({ bid }, i) => ({
    floor: bid < GRID ? shares[i] as number : 0,
    ceiling: bid,
  }));
  const onGrid = roundShares(shares, bounds, { capacity: divided });
  return {
    ...{ mode, price },
    shares: all.map(({ bid, waiting, part, owed }, i) => ({
      ...{ bid, waiting, share: onGrid[i] as number, part: fits ? owed : part },
    })),
  };
}

/** A container waits if it uses this share of what its weight gives it among those that wait. */
const BY_KERNEL = 0.85;

/**
 * By PSI. Where the kernel has none, by what weights leave on a node that is full: those that wait have
 * CPU by weight, since the kernel gives no more to a container that could use it, and one that uses
 * clearly less wants no more. Worked: with equal requests and usages of 100, 900 and 1000 the last two
 * wait.
 */
function waitingOf(bidders: readonly ScarceBidder[], capacity: number): number[] {
  if (bidders.some(({ load }) => load.waiting !== undefined)) {
    return bidders.map(({ load }) => load.waiting ?? 0);
  }
  const isFull = bidders.reduce((sum, { load }) => sum + load.usage1s, 0) >= capacity;
  let waiting = bidders.map(({ request = 0 }) => isFull && request > 0);
  for (;;) {
    let [used, requests] = [0, 0];
    bidders.forEach(({ load, request = 0 }, i) => {
      if (waiting[i]) [used, requests] = [used + load.usageNow, requests + request];
    });
    const least = BY_KERNEL * used / requests;
    const next = bidders.map(({ load, request = 0 }, i) =>
      waiting[i] === true && load.usageNow >= least * request
    );
    if (next.every((waits, i) => waits === waiting[i])) return next.map(Number);
    waiting = next;
  }
}

function bidOf(
  { ceiling, memory: { limit }, load, demand = 0 }: ScarceBidder,
  { part, waiting }: { readonly part: number; readonly waiting: number },
): number {
  const grown = GROWTH * load.usage;
  const isStarved = waiting >= WAITS;
  const hasPressure = load.waiting !== undefined;
  const most = isStarved && !hasPressure ? part : Math.min(STARVED_GROWTH * grown, part);
  const starved = isStarved || !hasPressure ? most : 0;
  const binds = limit < ceiling && load.usage1s > BINDS * limit;
  const wanted = binds ? Math.max(demand, part) : Math.max(grown, starved);
  // A step for each of a hundred idle containers would be half of a small node.
  return Math.min(ceiling, wanted < GRID ? Math.max(1, Math.ceil(wanted)) : upToGrid(wanted));
}

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
  & Pick<MarketContainer, "ceiling" | "weight" | "request" | "originalLimit">
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
  /** What its weight gives it of all that containers use, also where that is more than is divided. */
  readonly partOfUsed: number;
  /** Share of the time in which it waits for CPU; without PSI 1 or 0, by what weights leave it. */
  readonly waiting: number;
  /** Whether the kernel leaves it less than its part, so that another must be lowered. */
  readonly short: boolean;
}

/** A container with a limit that does not bind bids this much above its usage, so that it can grow. */
const GROWTH = 1.05;
/** A limit below the ceiling binds from this share of it on that is used: it hides the demand. */
const BINDS = 0.8;
/**
 * One that waits for CPU bids this much more, within its part. So does any container without PSI, and
 * there one that waits bids its part.
 */
const STARVED_GROWTH = 2;
/**
 * A container that waits for CPU is short if it gets less than this share of its part for that time.
 */
const SHORT_SHARE = 0.95;
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
  { capacity, isFull }: {
    readonly capacity: number;
    /** Whether the bidders use all that they can have; without PSI none waits before. */
    readonly isFull: boolean;
  },
): Pick<Clearing, "mode" | "price"> & { readonly shares: readonly ScarceShare[] } {
  const divided = DIVIDED * capacity;
  // At the end of a burst of others the shorter mean is the first to show what they leave again.
  const used = Math.max(
    ...(["usage1s", "usage400ms"] as const).map((mean) =>
      bidders.reduce((sum, { load }) => sum + load[mean], 0)
    ),
  );
  const weights = bidders.reduce((sum, { weight }) => sum + weight, 0);
  const waiting = waitingOf(bidders, { isFull });
  const all = bidders.map((bidder, i) => {
    const { weight, originalLimit } = bidder;
    const part = divided * weight / weights;
    const owed = Math.max(part, Math.min(originalLimit, divided));
    const waits = waiting[i] as number;
    const bid = bidOf(bidder, { part: owed, waiting: waits });
    return { bid, weight, part, owed, waiting: waits, originalLimit };
  });
  const first = divide(all, divided);
  // What a victim used until now does not show what it wants: one decrease is to answer its burst. Its
  // larger bid changes no part: by that it is a victim.
  const final = all.map(({ owed, ...one }, i) => {
    const bidder = bidders[i] as ScarceBidder;
    const part = first.fits ? owed : one.part;
    const short = isShort(bidder, { ...one, part });
    const victims = Math.max(one.bid, Math.min(bidder.ceiling, upToGrid(part)));
    return { ...one, part, short, bid: short ? victims : one.bid };
  });
  const hasVictims = final.some(({ short }) => short);
  const { mode, price, shares } = hasVictims ? divide(final, divided) : first;
  return {
    ...{ mode, price },
    shares: final.map(({ bid, weight, waiting, part, short }, i) => ({
      ...{ bid, waiting, part, short, share: shares[i] as number },
      partOfUsed: used * weight / weights,
    })),
  };
}

/** A bid, and what it may have within the limit that its user set. Millicores. */
interface Bid extends Pick<ScarceBidder, "weight" | "originalLimit"> {
  readonly bid: number;
}

/** Divides among bids; `fits` is whether each has what it asks for within its original limit. */
function divide(
  bids: readonly Bid[],
  divided: number,
): Pick<Clearing, "mode" | "price" | "shares"> & { readonly fits: boolean } {
  const least = bids.map(({ bid, originalLimit }) => Math.min(bid, originalLimit));
  const fits = least.reduce((sum, one) => sum + one, 0) <= divided;
  const { mode, price, shares } = clearMarket(
    bids.map(({ weight, bid }, i) => {
      const within = least[i] as number;
      return fits
        ? { weight, floor: within, ceiling: bid, demand: bid }
        : { weight, floor: 0, ceiling: within, demand: within };
    }),
    divided,
  );
  const bounds = bids.map(({ bid }, i) => ({
    floor: bid < GRID ? shares[i] as number : 0,
    ceiling: bid,
  }));
  return { mode, price, fits, shares: roundShares(shares, bounds, { capacity: divided }) };
}

/** Whether the kernel leaves the container less than its part. */
export function isShort(
  { load, ceiling, memory: { limit } }: Pick<ScarceBidder, "load" | "ceiling" | "memory">,
  { part, waiting }: Pick<ScarceShare, "part" | "waiting">,
): boolean {
  // A container at its limit waits for that, not for others.
  if (limit < ceiling && load.usage1s > SHORT_SHARE * limit) return false;
  // By PSI it can have used its part only while it waited; above its limit it never can.
  const used = load.waiting === undefined ? load.usage400ms : load.usage1500ms;
  return waiting >= WAITS && used < SHORT_SHARE * waiting * Math.min(part, limit);
}

/** A container waits if it uses this share of what its weight gives it among those that wait. */
const BY_KERNEL = 0.85;

/**
 * By PSI. Where the kernel has none, by what weights leave on a node that is full: those that wait have
 * CPU by weight, since the kernel gives no more to a container that could use it, and one that uses
 * clearly less wants no more. Worked: with equal requests and usages of 100, 900 and 1000 the last two
 * wait.
 */
function waitingOf(
  bidders: readonly ScarceBidder[],
  { isFull }: { readonly isFull: boolean },
): number[] {
  if (bidders.some(({ load }) => load.waiting !== undefined)) {
    return bidders.map(({ load }) => load.waiting ?? 0);
  }
  let waiting = bidders.map(({ request = 0 }) => isFull && request > 0);
  for (;;) {
    let [used, requests] = [0, 0];
    bidders.forEach(({ load, request = 0 }, i) => {
      if (waiting[i]) [used, requests] = [used + load.usage400ms, requests + request];
    });
    const least = BY_KERNEL * used / requests;
    const next = bidders.map(({ load, request = 0 }, i) =>
      waiting[i] === true && load.usage400ms >= least * request
    );
    if (next.every((waits, i) => waits === waiting[i])) return next.map(Number);
    waiting = next;
  }
}

function bidOf(
  { ceiling, memory: { limit }, load }: ScarceBidder,
  { part, waiting }: { readonly part: number; readonly waiting: number },
): number {
  const isStarved = waiting >= WAITS;
  // The mean of 0.4 s: at the end of a burst its CPU is free at once.
  const grown = GROWTH * (isStarved ? load.usage1500ms : load.usage400ms);
  const hasPressure = load.waiting !== undefined;
  const most = isStarved && !hasPressure ? part : Math.min(STARVED_GROWTH * grown, part);
  const starved = isStarved || !hasPressure ? most : 0;
  const binds = limit < ceiling && load.usage1s > BINDS * limit;
  const wanted = binds ? ceiling : Math.max(grown, starved);
  // A step for each of a hundred idle containers would be half of a small node.
  return Math.min(ceiling, wanted < GRID ? Math.max(1, Math.ceil(wanted)) : upToGrid(wanted));
}

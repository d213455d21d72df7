/**
 * The division of a node's CPU while it is scarce.
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

/** A running container. While its limit binds, its usage shows only a part of its demand. */
export type ScarceBidder =
  & Pick<MarketContainer, "ceiling" | "weight" | "multiplier" | "request" | "originalLimit">
  & { readonly load: RecentLoad; readonly memory: Pick<PaceMemory, "limit"> };

/** The outcome for a container. Millicores; bids and shares from one grid step on are on the grid. */
export interface ScarceShare {
  readonly bid: number;
  /** The bid without the headroom that is added where the kernel has no PSI. */
  readonly wanted: number;
  /** At most the bid. */
  readonly share: number;
  /**
   * The share of a container that waits, if all that wait bid for their ceilings; for the others the
   * share by weight alone.
   */
  readonly part: number;
  /** The same as `part` of all usage, which may be more than is divided; 0 while none waits. */
  readonly partOfUsed: number;
  /** Share of the time in which it waits for CPU; 1 or 0 where the kernel has no PSI. */
  readonly waiting: number;
  /** Whether the kernel gives it less than its part, so that another container must be lowered. */
  readonly short: boolean;
}

/** Factor from usage to the bid where the limit does not bind, so that usage can grow. */
const GROWTH = 1.05;
/** A limit below the ceiling binds if at least this share of it is used: it hides demand. */
const BINDS = 0.8;
/**
 * Factor on the bid of a container that waits, up to its part. Without PSI the factor is for all
 * containers, and one that waits bids for its whole part.
 */
const STARVED_GROWTH = 2;
/** A container that waits is short if it gets less than this share of its part. */
const SHORT_SHARE = 0.95;
/**
 * Factor on the capacity, which is 90 % of the node, so that 97 % of the node are divided. With less,
 * rounding would cause a price on a node that still has free CPU.
 */
export const DIVIDED_FACTOR = 1.08;

/**
 * Divides 1.08 × `capacity`, millicores, by the bids; Σ shares is at most that.
 *
 * If min(bid, original limit) of all containers fit, each container is due that, and a part of the rest
 * by request. This is the weighted Nash bargaining solution with original limits as the disagreement
 * point (Kalai, "Nonsymmetric Nash solutions and replications of 2-person bargaining", 1977). The weight
 * in the clearing is the due CPU × priority × credit, and no share is below min(bid, original limit). If
 * they do not fit, they are divided by weight, and no share is above.
 */
export function clearScarce(
  bidders: readonly ScarceBidder[],
  { capacity, isFull }: {
    readonly capacity: number;
    /** Whether usage has reached the capacity; without PSI no container waits before. */
    readonly isFull: boolean;
  },
): Pick<Clearing, "mode" | "price"> & { readonly shares: readonly ScarceShare[] } {
  const divided = DIVIDED_FACTOR * capacity;
  // The shorter mean is the first to show the CPU that a burst outside of the market leaves again.
  const used = Math.max(
    bidders.reduce((sum, { load }) => sum + load.usage1s, 0),
    bidders.reduce((sum, { load }) => sum + load.usage400ms, 0),
  );
  const weights = bidders.reduce((sum, { weight }) => sum + weight, 0);
  const waiting = waitingOf(bidders, { isFull });
  const initialBids = bidders.map((bidder, i) => {
    const division = { part: divided * bidder.weight / weights, waiting: waiting[i] as number };
    return { bidder, ...division, ...bidOf(bidder, division) };
  });
  // Usage of a container that waits does not show its demand.
  const ceilingBids = initialBids.map(({ bidder, waiting, bid }) => ({
    bidder,
    bid: waiting < WAITS ? bid : bidder.ceiling,
  }));
  const waits = waiting.some((share) => share >= WAITS);
  // Not rounded: of two equal containers one would be short.
  const entitled = waits ? clearDue(ceilingBids, divided).shares : [];
  const partsOfUsed = waits ? clearDue(ceilingBids, used).shares : [];
  const byKernel = waits
    ? divideByRequest(
      ceilingBids.map(({ bidder, bid }) => ({ bidder, bid: Math.min(bid, bidder.memory.limit) })),
      used,
    )
    : [];
  const bids = initialBids.map((one, i) => {
    const { bidder, waiting } = one;
    if (waiting < WAITS) return { ...one, short: false };
    const part = entitled[i] as number;
    // Pods outside of the market may leave less CPU than is divided.
    const due = Math.min(part, partsOfUsed[i] as number);
    // Where the kernel divides as the market does, chance must lower no container.
    const short = SHORT_SHARE * Math.min(due, bidder.memory.limit) > (byKernel[i] as number) &&
      isShort(bidder, { part: due, waiting });
    // A short container bids for its whole part, so that others need only one decrease.
    const shortBid = short ? Math.min(bidder.ceiling, upToGrid(part)) : 0;
    return { ...one, part, short, bid: Math.max(one.bid, shortBid) };
  });
  const { mode, price, shares } = clearOnGrid(bids, divided);
  return {
    mode,
    price,
    shares: bids.map(({ bidder: _, ...one }, i) => ({
      ...one,
      share: shares[i] as number,
      partOfUsed: partsOfUsed[i] ?? 0,
    })),
  };
}

/** A bidder with its bid, millicores. */
interface BidderBid {
  readonly bidder: Pick<ScarceBidder, "weight" | "multiplier" | "originalLimit">;
  readonly bid: number;
}

/** {@linkcode clearDue}, with shares on the grid. */
function clearOnGrid(
  bids: readonly BidderBid[],
  divided: number,
): Pick<Clearing, "mode" | "price" | "shares"> {
  const { mode, price, shares } = clearDue(bids, divided);
  const bounds = bids.map(({ bid }, i) => ({
    floor: bid < GRID ? shares[i] as number : 0,
    ceiling: bid,
  }));
  return { mode, price, shares: roundShares(shares, bounds, { capacity: divided }) };
}

/** Divides among bids; {@linkcode clearScarce} describes the rule. */
function clearDue(bids: readonly BidderBid[], divided: number): Clearing {
  const withinOriginal = bids.map(({ bid, bidder }) => Math.min(bid, bidder.originalLimit));
  const rest = divided - withinOriginal.reduce((sum, one) => sum + one, 0);
  const fits = rest >= 0;
  const weights = fits
    ? dueWeights(bids, { withinOriginal, rest })
    : bids.map(({ bidder }) => bidder.weight);
  return clearMarket(
    bids.map(({ bid }, i) => {
      const [weight, least] = [weights[i] as number, withinOriginal[i] as number];
      return fits
        ? { weight, floor: least, ceiling: bid, demand: bid }
        : { weight, floor: 0, ceiling: least, demand: least };
    }),
    divided,
  );
}

/** Divides among bids as the kernel does: without priority and credit. */
function divideByRequest(bids: readonly BidderBid[], divided: number): Float64Array {
  return clearMarket(
    bids.map(({ bid, bidder: { weight, multiplier = 1 } }) => {
      return { weight: weight / multiplier, floor: 0, ceiling: bid, demand: bid };
    }),
    divided,
  ).shares;
}

/**
 * Weights of bidders by due CPU × priority × credit, scaled to the sum of their weights, so that the
 * price stays weight per millicore.
 */
function dueWeights(
  bids: readonly BidderBid[],
  { withinOriginal, rest }: {
    readonly withinOriginal: readonly number[];
    readonly rest: number;
  },
): number[] {
  const beyond = divideByRequest(
    bids.map(({ bidder, bid }, i) => ({ bidder, bid: bid - (withinOriginal[i] as number) })),
    rest,
  );
  const dues = bids.map(({ bidder: { multiplier = 1 } }, i) =>
    multiplier * ((withinOriginal[i] as number) + (beyond[i] as number))
  );
  const scale = bids.reduce((sum, { bidder }) => sum + bidder.weight, 0) /
    dues.reduce((sum, due) => sum + due, 0);
  return dues.map((due) => scale * due);
}

/** Whether the kernel gives a container that waits less than its part. */
export function isShort(
  { load, ceiling, memory: { limit } }: Pick<ScarceBidder, "load" | "ceiling" | "memory">,
  { part, waiting }: Pick<ScarceShare, "part" | "waiting">,
): boolean {
  // At its limit a container is throttled, it does not wait for others.
  if (limit < ceiling && load.usage1s > SHORT_SHARE * limit) return false;
  // With PSI its part is only due for the time in which it waited, and never above its limit.
  const used = load.waiting === undefined ? load.usage400ms : load.usage1500ms;
  return waiting >= WAITS && used < SHORT_SHARE * waiting * Math.min(part, limit);
}

/** Without PSI a container waits if it uses this share of its CPU by request among those that wait. */
const BY_KERNEL = 0.85;

/**
 * How long each bidder waits: by PSI, as a share of the time. Without PSI 1 or 0: on a full node
 * containers that wait have CPU by request, and one that uses clearly less wants no more. Worked: with
 * equal requests and usages of 100, 900 and 1000 m the last two wait.
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
): Pick<ScarceShare, "bid" | "wanted"> {
  const isStarved = waiting >= WAITS;
  // The shorter mean frees CPU soon after a burst.
  const grown = GROWTH * (isStarved ? load.usage1500ms : load.usage400ms);
  const hasPressure = load.waiting !== undefined;
  const starved = isStarved && !hasPressure ? part : Math.min(STARVED_GROWTH * grown, part);
  const binds = limit < ceiling && load.usage1s > BINDS * limit;
  const wanted = binds ? ceiling : isStarved ? Math.max(grown, starved) : grown;
  // Without PSI a container may wait although `waiting` is 0.
  const bid = hasPressure ? wanted : Math.max(wanted, starved);
  return { bid: bidWithin(bid, ceiling), wanted: bidWithin(wanted, ceiling) };
}

function bidWithin(wanted: number, ceiling: number): number {
  // Off the grid below a step: a step for each of 100 idle containers would be half of a small node.
  return Math.min(ceiling, wanted < GRID ? Math.max(1, Math.ceil(wanted)) : upToGrid(wanted));
}

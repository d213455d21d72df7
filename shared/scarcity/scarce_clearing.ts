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
  & Pick<MarketContainer, "ceiling" | "weight" | "multiplier" | "request" | "originalLimit">
  & { readonly load: RecentLoad; readonly memory: Pick<PaceMemory, "limit"> };

/** Outcome of a clearing for a container. Millicores; bids and shares of a step and more on the grid. */
export interface ScarceShare {
  readonly bid: number;
  /** The bid without the headroom that a kernel without PSI asks for. */
  readonly wanted: number;
  /** At most the bid. */
  readonly share: number;
  /**
   * The share that a container which waits would have if each that waits bid for its ceiling; for
   * others what weights give them if all ask for more than there is.
   */
  readonly part: number;
  /**
   * The share that it would have then of all that containers use, also where that is more than is divided;
   * 0 while none waits.
   */
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
export const DIVIDED_SHARE = 1.08;

/**
 * Divides 1.08 × `capacity`, millicores. Σ shares is at most that. Where the bids within original limits
 * fit, each container is due what it bids within its own, and requests divide the rest; that is the
 * weighted Nash bargaining solution with original limits as the disagreement point (Kalai, "Nonsymmetric
 * Nash solutions and replications of 2-person bargaining", 1977). Priority and credit count on all that
 * is due: its product with them is the weight in the clearing, and none gets less than min(bid, original
 * limit). Where they do not fit, weights divide them, and none gets more.
 */
export function clearScarce(
  bidders: readonly ScarceBidder[],
  { capacity, isFull }: {
    readonly capacity: number;
    /** Whether the bidders use all that they can have; without PSI none waits before. */
    readonly isFull: boolean;
  },
): Pick<Clearing, "mode" | "price"> & { readonly shares: readonly ScarceShare[] } {
  const divided = DIVIDED_SHARE * capacity;
  // At the end of a burst of others the shorter mean is the first to show what they leave again.
  const used = Math.max(
    ...(["usage1s", "usage400ms"] as const).map((mean) =>
      bidders.reduce((sum, { load }) => sum + load[mean], 0)
    ),
  );
  const weights = bidders.reduce((sum, { weight }) => sum + weight, 0);
  const waiting = waitingOf(bidders, { isFull });
  const first = bidders.map((bidder, i) => {
    const [part, waits] = [divided * bidder.weight / weights, waiting[i] as number];
    return { bidder, part, waiting: waits, ...bidOf(bidder, { part, waiting: waits }) };
  });
  // Usage while a container waited does not show its demand.
  const most = first.map(({ bidder, waiting, bid }) => ({
    bidder,
    bid: waiting < WAITS ? bid : bidder.ceiling,
  }));
  // While none waits, none is short: the clearing of the bids is enough.
  const waits = waiting.some((share) => share >= WAITS);
  // Not rounded: of two equal containers one would be short.
  const entitled = waits ? clearDue(most, divided).shares : [];
  const partsOfUsed = waits ? clearDue(most, used).shares : [];
  const byKernel = waits
    ? divideByRequest(
      most.map(({ bidder, bid }) => ({ bidder, bid: Math.min(bid, bidder.memory.limit) })),
      used,
    )
    : [];
  const bids = first.map((one, i) => {
    const { bidder, waiting } = one;
    if (waiting < WAITS) return { ...one, short: false };
    const part = entitled[i] as number;
    // Pods outside of the market may leave less than is divided.
    const due = Math.min(part, partsOfUsed[i] as number);
    // Chance lowers none where the kernel divides as the market does.
    const short = SHORT_SHARE * Math.min(due, bidder.memory.limit) > (byKernel[i] as number) &&
      isShort(bidder, { part: due, waiting });
    // One decrease of others is to answer the burst of a victim.
    const victims = short ? Math.min(bidder.ceiling, upToGrid(part)) : 0;
    return { ...one, part, short, bid: Math.max(one.bid, victims) };
  });
  const { mode, price, shares } = divide(bids, divided);
  return {
    ...{ mode, price },
    shares: bids.map(({ bidder: _, ...one }, i) => ({
      ...one,
      share: shares[i] as number,
      partOfUsed: partsOfUsed[i] ?? 0,
    })),
  };
}

/** A bid, millicores. */
interface Bid {
  readonly bidder: Pick<ScarceBidder, "weight" | "multiplier" | "originalLimit">;
  readonly bid: number;
}

/** {@linkcode clearDue}, with shares on the grid. */
function divide(
  bids: readonly Bid[],
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
function clearDue(bids: readonly Bid[], divided: number): Clearing {
  const within = bids.map(({ bid, bidder }) => Math.min(bid, bidder.originalLimit));
  const rest = divided - within.reduce((sum, one) => sum + one, 0);
  const fits = rest >= 0;
  const weights = fits
    ? dueWeights(bids, { within, rest })
    : bids.map(({ bidder }) => bidder.weight);
  return clearMarket(
    bids.map(({ bid }, i) => {
      const [weight, least] = [weights[i] as number, within[i] as number];
      return fits
        ? { weight, floor: least, ceiling: bid, demand: bid }
        : { weight, floor: 0, ceiling: least, demand: least };
    }),
    divided,
  );
}

/** Divides among bids as the kernel does: without priority and credit. */
function divideByRequest(bids: readonly Bid[], divided: number): Float64Array {
  return clearMarket(
    bids.map(({ bid, bidder: { weight, multiplier = 1 } }) => {
      return { weight: weight / multiplier, floor: 0, ceiling: bid, demand: bid };
    }),
    divided,
  ).shares;
}

/**
 * Weights of bidders by request and original limit, times priority and credit; scaled to the sum of
 * their weights, so that the price stays weight per millicore.
 */
function dueWeights(
  bids: readonly Bid[],
  { within, rest }: { readonly within: readonly number[]; readonly rest: number },
): number[] {
  const beyond = divideByRequest(
    bids.map(({ bidder, bid }, i) => ({ bidder, bid: bid - (within[i] as number) })),
    rest,
  );
  const dues = bids.map(({ bidder: { multiplier = 1 } }, i) =>
    multiplier * ((within[i] as number) + (beyond[i] as number))
  );
  const scale = bids.reduce((sum, { bidder }) => sum + bidder.weight, 0) /
    dues.reduce((sum, due) => sum + due, 0);
  return dues.map((due) => scale * due);
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
): Pick<ScarceShare, "bid" | "wanted"> {
  const isStarved = waiting >= WAITS;
  // The mean of 0.4 s: at the end of a burst its CPU is free at once.
  const grown = GROWTH * (isStarved ? load.usage1500ms : load.usage400ms);
  const hasPressure = load.waiting !== undefined;
  const starved = isStarved && !hasPressure ? part : Math.min(STARVED_GROWTH * grown, part);
  const binds = limit < ceiling && load.usage1s > BINDS * limit;
  const wanted = binds ? ceiling : isStarved ? Math.max(grown, starved) : grown;
  // Without PSI any container may wait.
  const bid = hasPressure ? wanted : Math.max(wanted, starved);
  return { bid: bidWithin(bid, ceiling), wanted: bidWithin(wanted, ceiling) };
}

function bidWithin(wanted: number, ceiling: number): number {
  // A step for each of a hundred idle containers would be half of a small node.
  return Math.min(ceiling, wanted < GRID ? Math.max(1, Math.ceil(wanted)) : upToGrid(wanted));
}

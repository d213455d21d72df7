/**
 * How a node's CPU is divided while it is scarce.
 *
 * @module
 */
import { GRID, roundShares, upToGrid } from "../market/rounding.ts";
import { clearMarket, type Mode } from "../market/solver.ts";
import { type RecentLoad, WAITS } from "./recent_load.ts";

/** A container that takes part. CPU in millicores. */
export interface ScarceBidder {
  /** Bounds of the limit, holds included, on the grid. */
  readonly floor: number;
  readonly ceiling: number;
  readonly weight: number;
  /** The limit now. */
  readonly limit: number;
  /** The limit that the user set. */
  readonly originalLimit: number;
  /** What its work needs of a limit, as far as a limit that may bind lets usage show it. */
  readonly need: number;
  readonly load: RecentLoad;
  /** For how long its quota has run out in every period, ms. */
  readonly saturatedMs: number;
  /** Whether its limit throttled it in the last interval. */
  readonly throttled: boolean;
}

/** What a clearing gives a container. Millicores, on the grid but for `part`. */
export interface ScarceShare {
  readonly bid: number;
  /** At most the bid. */
  readonly share: number;
  /** What it would get if every container bid for more than there is. */
  readonly part: number;
}

/** A cleared node. */
export interface ScarceClearing {
  readonly mode: Mode;
  /** 1/millicore. */
  readonly price: number;
  /** In the order of the bidders. */
  readonly shares: readonly ScarceShare[];
}

/** A container whose limit does not bind bids this much above its usage, so that it can grow. */
const GROWTH = 1.05;
/** So does one that its limit does not throttle and that uses less than this share of it. */
const BINDS = 0.8;
/** One that waits for CPU, or may do so for all the kernel shows, bids this much more, within its part. */
const STARVED_GROWTH = 2;
/** One whose limit has run out in every period for this long, ms, bids for its part at least. */
const SATURATED_MS = 300;
/**
 * What is divided / capacity: 97 % of a node whose capacity is 90 % of it. To divide less makes a
 * price out of rounding, on a node that still has CPU to give.
 */
export const DIVIDED = 1.08;

/**
 * Divides 1.08 × `capacity`, millicores, among the bids by weight. Bids above the limits that users
 * set count only after every bid has what it asks for within its own: a container gets less than
 * min(bid, original limit) only while none gets more than that. Σ shares is at most what is divided.
 */
export function clearScarce(bidders: readonly ScarceBidder[], capacity: number): ScarceClearing {
  const divided = DIVIDED * capacity;
  const weights = bidders.reduce((sum, { weight }) => sum + weight, 0);
  const parts = bidders.map(({ weight }) => divided * weight / weights);
  const bids = bidders.map((bidder, i) => bidOf(bidder, parts[i] ?? 0));
  const original = bids.map((bid, i) => Math.min(bid, bidders[i]?.originalLimit ?? bid));
  const fits = original.reduce((sum, amount) => sum + amount, 0) <= divided;
  const { mode, price, shares } = clearMarket(
    bidders.map(({ weight }, i) => {
      const [bid = 0, least = 0] = [bids[i], original[i]];
      return fits
        ? { weight, floor: least, ceiling: bid, demand: bid }
        : { weight, floor: 0, ceiling: least, demand: least };
    }),
    divided,
  );
  const bounds = bids.map((bid) => ({ floor: 0, ceiling: bid }));
  const onGrid = roundShares(shares, bounds, { capacity: divided });
  return {
    mode,
    price,
    shares: bids.map((bid, i) => ({ bid, share: onGrid[i] ?? 0, part: parts[i] ?? 0 })),
  };
}

function bidOf(
  { ceiling, limit, load, need, saturatedMs, throttled }: ScarceBidder,
  part: number,
): number {
  const { usage1s, usage, waiting = 1 } = load;
  const grown = GROWTH * usage;
  const starved = waiting >= WAITS ? Math.min(STARVED_GROWTH * grown, part) : 0;
  const saturated = saturatedMs >= SATURATED_MS ? part : 0;
  const binds = limit < ceiling && (throttled || usage1s > BINDS * limit);
  const wanted = binds ? Math.max(need, saturated) : Math.max(grown, starved);
  return Math.min(ceiling, Math.max(GRID, upToGrid(wanted)));
}

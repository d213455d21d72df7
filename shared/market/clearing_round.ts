/**
 * One clearing of a node where limits follow demand: the limits that the market would give.
 *
 * @module
 */
import { type Bidder, bidOf, limitBounds } from "./bids.ts";
import { roundBounds, roundShares } from "./rounding.ts";
import { clearMarket, type Mode } from "./solver.ts";

/** What a round gives one bidder. Millicores. */
export interface RoundOutcome {
  /** Bounds of the limit, holds included. */
  readonly floor: number;
  readonly ceiling: number;
  /** The bid's floor: what an idle container is counted with. */
  readonly least: number;
  /** Demand within the bid's bounds. */
  readonly need: number;
  /** The limit for what is needed: max(floor, share), on the grid. */
  readonly share: number;
  /** Where the limit goes: to the share, or to the ceiling where idle CPU is free. On the grid. */
  readonly target: number;
}

/** Clears the market for these bidders and puts shares on the grid. */
export function clearRound(
  bidders: readonly Bidder[],
  { capacity, grantable = capacity }: {
    /** Millicores that the market may share. */
    readonly capacity: number;
    /**
     * Millicores of it that raises may commit; the rest is divided only as far as floors need it,
     * since shares of it could not be given to all that are short alike. @default {capacity}
     */
    readonly grantable?: number;
  },
): { readonly mode: Mode; readonly price: number; readonly outcomes: readonly RoundOutcome[] } {
  const rounded = bidders.map((bidder) => ({
    ...bidder,
    ...roundBounds(limitBounds(bidder)),
    // What it holds stands in the bounds now: half of a way must not be halved again.
    held: undefined,
  }));
  const bids = rounded.map(bidOf);
  const floors = bids.reduce((sum, { floor }) => sum + floor, 0);
  const divided = Math.max(grantable, Math.min(capacity, floors));
  const { mode, price, shares } = clearMarket(bids, divided);
  const onGrid = roundShares(shares, bids, { capacity: divided });
  const outcomes = bids.map(({ floor: least, ceiling, demand }, i) => {
    const floor = rounded[i]?.floor ?? least;
    const share = Math.max(floor, onGrid[i] ?? 0);
    const need = Math.min(Math.max(demand, least), ceiling);
    return { floor, ceiling, least, need, share, target: share };
  });
  return { mode, price, outcomes };
}

/**
 * How free CPU is split among containers that wait for a raise.
 *
 * @module
 */
import { GRID } from "../market/rounding.ts";
import { clearMarket } from "../market/solver.ts";

/** A container that waits for more. */
export interface RaiseWish {
  /** Millicores of free CPU that the whole raise takes. */
  readonly cost: number;
  readonly weight: number;
}

/**
 * Millicores granted to each wish, Σ at most `free`: all of it where there is enough, otherwise the
 * weighted proportional-fair split, rounded down to the grid so that no grant exceeds what is free.
 */
export function grantRaises(wishes: readonly RaiseWish[], free: number): number[] {
  const bids = wishes.map(({ cost, weight }) => ({
    weight,
    floor: 0,
    ceiling: cost,
    demand: cost,
  }));
  const { mode, shares } = clearMarket(bids, Math.max(0, free));
  if (mode === "uncongested") return wishes.map(({ cost }) => cost);
  return Array.from(shares, (share) => Math.floor(share / GRID) * GRID);
}

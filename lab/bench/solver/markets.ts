/**
 * Random markets for the solver's benchmark.
 *
 * @module
 */
import { type Bid, clearMarket, type Mode } from "../../../shared/market/solver.ts";
import type { Random } from "../../../shared/random.ts";

/** All modes of a clearing. */
export const MODES: readonly Mode[] = ["uncongested", "congested", "overloaded"];

/** Bids and what they compete for. */
export interface Market {
  readonly bids: readonly Bid[];
  readonly capacity: number;
}

/** What to make. */
export interface MarketShape {
  readonly count: number;
  readonly mode: Mode;
}

/** A node's containers: requests of 10 to 2000 m, ceilings of four times as much, any demand. */
export function nodeMarket(random: Random, { count, mode }: MarketShape): Market {
  const bids = Array.from({ length: count }, () => {
    const request = logUniform(random, 10, 2000);
    const floor = Math.min(request, 100);
    return {
      weight: request,
      floor,
      ceiling: 4 * request + 10,
      demand: floor + logUniform(random, 5, 4000),
    };
  });
  return { bids, capacity: capacityFor(bids, { random, mode }) };
}

/** Bids with values of any size from 1e-6 to 1e9. */
export function wideMarket(random: Random, { count, mode }: MarketShape): Market {
  const amount = (): number => logUniform(random, 1e-6, 1e9);
  const bids = Array.from({ length: count }, () => {
    const floor = amount();
    const demand = floor + amount();
    return { weight: amount(), floor, ceiling: floor + amount(), demand };
  });
  return { bids, capacity: capacityFor(bids, { random, mode }) };
}

/** A capacity with which these bids clear in the mode. */
function capacityFor(bids: readonly Bid[], options: { random: Random; mode: Mode }): number {
  const { random, mode } = options;
  const floors = bids.reduce((sum, { floor }) => sum + floor, 0);
  const needs = bids.reduce((sum, { demand, ceiling }) => sum + Math.min(demand, ceiling), 0);
  const at = 0.05 + 0.9 * random.next();
  const capacity = {
    uncongested: needs * (1 + at),
    congested: floors + at * (needs - floors),
    overloaded: floors * at,
  }[mode];
  const cleared = clearMarket(bids, capacity).mode;
  if (cleared !== mode) {
    throw new RangeError(`Cannot make a market: capacity ${capacity} clears as ${cleared}`);
  }
  return capacity;
}

function logUniform(random: Random, from: number, to: number): number {
  return from * (to / from) ** random.next();
}

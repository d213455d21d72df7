/**
 * Random markets for the property tests of the clearing.
 *
 * @module
 */
import fc from "fast-check";
import type { Bid, Clearing } from "./solver.ts";
import { exactSum } from "./residual.ts";

/** Cases of each property; the design asks for at least 1,000. */
export const MANY = { numRuns: 1_500 } as const;

/**
 * Tolerance of sums and of differences between two clearings, as a fraction of the total that is
 * shared out. The clearing compares sums with a slack of 1e-12, so that two markets that differ only
 * in rounding may lie on both sides of it; the rest is for the rounding of a few hundred additions.
 * Where a law holds for each share by itself, the tests use {@linkcode CLOSE} instead.
 */
export const OF_TOTAL = 1e-11;

/** Tolerance of products and quotients, as a fraction of the number itself: ten roundings or so. */
export const CLOSE = 1e-14;

/** Bids and what they compete for. */
export interface Market {
  readonly bids: readonly Bid[];
  readonly capacity: number;
}

/** The bid's demand within its bounds. */
export function needOf(bid: Bid): number {
  return Math.max(bid.floor, Math.min(bid.demand, bid.ceiling));
}

/** What a market shares out: min(max(0, capacity), Σ need). */
export function totalOf({ bids, capacity }: Market): number {
  return Math.min(Math.max(0, capacity), exactSum(bids.map(needOf)));
}

/** Bounds within which the mode of a clearing keeps a bid's share. */
export function boundsOf(bid: Bid, { mode }: Clearing): { lower: number; upper: number } {
  return mode === "overloaded"
    ? { lower: 0, upper: bid.floor }
    : { lower: bid.floor, upper: needOf(bid) };
}

/** Decades of the random values: all at once, one node's millicores, or nearly equal ones. */
const DECADES: readonly (readonly [number, number])[] = [[-6, 9], [1, 4], [0, 0.2]];

/** Numbers with uniformly distributed logarithm, between powers of ten. */
export function logUniform(from: number, to: number): fc.Arbitrary<number> {
  return fc.double({ min: from, max: to, noNaN: true }).map((exponent) => 10 ** exponent);
}

function bidArbitrary([from, to]: readonly [number, number]): fc.Arbitrary<Bid> {
  const amount = logUniform(from, to);
  const orZero = fc.oneof({ weight: 3, arbitrary: amount }, {
    weight: 1,
    arbitrary: fc.constant(0),
  });
  return fc.record({
    weight: amount,
    a: orZero,
    b: amount,
    demand: orZero,
    equalBounds: fc.nat(4).map((n) => n === 0),
  }).map(({ weight, a, b, demand, equalBounds }) => ({
    weight,
    floor: equalBounds ? b : Math.min(a, b),
    ceiling: equalBounds ? b : Math.max(a, b),
    demand,
  }));
}

/** One bid with values of any size from 1e-6 to 1e9. */
export const anyBid: fc.Arbitrary<Bid> = bidArbitrary([-6, 9]);

/**
 * Lists of bids, with repetitions. A size of 1e-6 to 1e9 in all mixes, and more alike ones, since
 * next to a bid of 1e9 the small ones disappear in the tolerance.
 */
export const anyBids: fc.Arbitrary<Bid[]> = fc.constantFrom(...DECADES).chain((decades) =>
  fc.array(bidArbitrary(decades), { minLength: 1, maxLength: 12 })
    .chain((bids) =>
      fc.array(fc.nat(bids.length - 1), { maxLength: 3 })
        .map((again) => [...bids, ...again.map((index) => ({ ...bids[index] as Bid }))])
    )
);

/** From 0 to 1; in millionths, since doubles would mostly be far below the range of values. */
const fraction: fc.Arbitrary<number> = fc.nat(1_000_000).map((n) => n / 1_000_000);

/** A capacity for these bids, of every mode and on the borders between them. */
export function capacityFor(bids: readonly Bid[]): fc.Arbitrary<number> {
  const floors = exactSum(bids.map((bid) => bid.floor));
  const needs = exactSum(bids.map(needOf));
  return fc.oneof(
    { weight: 4, arbitrary: fraction.map((at) => floors + at * (needs - floors)) },
    { weight: 3, arbitrary: fraction.map((at) => at * floors) },
    { weight: 1, arbitrary: fraction.map((at) => needs * (1 + at)) },
    { weight: 1, arbitrary: logUniform(-6, 9) },
    { weight: 1, arbitrary: fc.constantFrom(0, -1, floors, needs) },
    // Some at their need and the others at their floor: nobody may be left to set the price.
    {
      weight: 1,
      arbitrary: fc.nat(bids.length).map((satisfied) =>
        exactSum(bids.map((bid, index) => index < satisfied ? needOf(bid) : bid.floor))
      ),
    },
  );
}

/** Markets of every mode. */
export const anyMarket: fc.Arbitrary<Market> = anyBids.chain((bids) =>
  capacityFor(bids).map((capacity) => ({ bids, capacity }))
);

/** Markets in which no floor binds and the needs do not fit. */
export const congestedWithoutFloors: fc.Arbitrary<Market> = anyBids
  .map((bids) => bids.map((bid) => ({ ...bid, floor: 0, demand: bid.demand || bid.ceiling })))
  .chain((bids) => fraction.map((at) => ({ bids, capacity: at * exactSum(bids.map(needOf)) })));

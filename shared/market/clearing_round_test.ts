import fc from "fast-check";
import assert from "node:assert/strict";
import { forAll } from "../../tests/fixtures/for_all.ts";
import { anyMarket, logUniform } from "../../tests/fixtures/market/bids_arbitrary.ts";
import { exactSum } from "../../tests/fixtures/market/clearing_residual.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { GRID } from "../quantity.ts";
import {
  type Bidder,
  bidOf,
  clearRound,
  type HeldLimit,
  limitBounds,
  marketCapacity,
  withStartupDemand,
} from "./clearing_round.ts";
import { CREDIT_BOUNDS, CREDIT_HALF_LIFE_MS, creditAfter, type CreditStep } from "./credits.ts";
import { splitByRequest } from "./pod_split.ts";
import { isAtCeiling, type LimitBounds, roundBounds, roundShares, upToGrid } from "./rounding.ts";
import { type Bid, clearMarket, type Mode } from "./solver.ts";

pure("marketCapacity() takes off reserve, pressures and unmanaged CPU that is used", () => {
  const rows = [
    [{ allocatable: 8000, unmanaged: 500, pressures: 0 }, 6700],
    [{ allocatable: 8000, unmanaged: 0, pressures: 0, reserve: 0 }, 8000],
    [{ allocatable: 10_000, unmanaged: 0, pressures: 2 }, 7290],
    [{ allocatable: 1000, unmanaged: 5000, pressures: 3 }, 0],
    // Others request 4000 m and use 500 m; then they use all.
    [{ allocatable: 8000, unmanaged: 4000, pressures: 0, available: 7500 }, 6750],
    [{ allocatable: 8000, unmanaged: 4000, pressures: 1, available: 7500 }, 6075],
    [{ allocatable: 8000, unmanaged: 4000, pressures: 0, available: 3500 }, 3200],
  ] as const;
  for (const [input, capacity] of rows) {
    assert.ok(Math.abs(marketCapacity(input) - capacity) < 1e-9, `${capacity}`);
  }
});

const LIMIT: HeldLimit = { floor: 100, ceiling: 800, present: 300, demand: 400 };

type Change = Partial<HeldLimit & Pick<Bidder, "weight" | "boost">>;

/** A bidder with this limit, its bounds as the hold has them. */
function bidder(change: Change = {}, usual = LIMIT): Bidder {
  const { weight = 100, boost = false, ...limit } = { ...usual, ...change };
  const memory = { limit: limit.present };
  return { weight, boost, memory, demand: limit.demand, ...roundBounds(limitBounds(limit)) };
}

pure("bidOf() bids demand on the grid, and a floor of at most the demand", () => {
  const usual = { weight: 100, floor: 100, ceiling: 800, demand: 400 };
  const rows: readonly (readonly [Change, Partial<Bid>])[] = [
    [{}, {}],
    [{ demand: 42 }, { floor: 42, demand: 50 }],
    [{ demand: 1 }, { floor: 10, demand: 10 }],
    [{ demand: 142 }, { demand: 150 }],
    [{ demand: 150 }, { demand: 150 }],
    [{ demand: undefined }, { floor: 300, ceiling: 300, demand: 300 }],
  ];
  for (const [fields, bid] of rows) {
    assert.deepEqual(bidOf(bidder(fields)), { ...usual, ...bid });
  }
  assert.equal(bidOf(bidder({ demand: 0 })).floor, 10);
  assert.equal(bidOf({ ...bidder({ demand: 0 }), floor: 4 }).floor, 4);
});

pure("limitBounds() are what holds allow: no change, no decrease, or half of the way down", () => {
  const rows: readonly (readonly [Change, floor: number, ceiling: number])[] = [
    [{ held: "both" }, 300, 300],
    [{ demand: undefined }, 300, 300],
    [{ held: "lower" }, 300, 800],
    [{ held: "lower", present: 900 }, 900, 900],
    // A floor that has come up counts.
    [{ held: "lower", present: 60 }, 100, 800],
    [{ held: "half" }, 200, 800],
    // A lower ceiling applies whatever the step.
    [{ held: "half", present: 900 }, 500, 800],
    [{ held: "half", present: 2000 }, 800, 800],
    [{ held: "half", present: 60 }, 100, 800],
  ];
  for (const [fields, floor, ceiling] of rows) {
    assert.deepEqual(limitBounds({ ...LIMIT, ...fields }), { floor, ceiling });
  }
});

pure("withStartupDemand() divides what is spare by weight among those that start", () => {
  const starts = (change: Change = {}): Bidder =>
    bidder({ ceiling: 1000, present: 200, demand: 50, boost: true, ...change });
  const rows: readonly (readonly [readonly Bidder[], spare: number, (number | undefined)[]])[] = [
    [[starts(), starts({ weight: 300 }), starts({ boost: false })], 400, [300, 500, 50]],
    // No more than the ceiling, and no less than is needed.
    [[starts()], 5000, [1000]],
    [[starts({ demand: 700 })], 100, [700]],
    // A boost that was given stays while nothing is spare; below that it asks for nothing.
    [[starts({ present: 600 })], 0, [600]],
    [[starts({ present: 600 })], -1, [50]],
    [[starts({ demand: undefined })], 400, [undefined]],
  ];
  for (const [bidders, spare, demands] of rows) {
    assert.deepEqual(withStartupDemand(bidders, { spare }).map(({ demand }) => demand), demands);
  }
});

const STEADY: HeldLimit = { floor: 100, ceiling: 2000, present: 500, demand: 500 };

pure("clearRound() gives what is needed, or what weight, holds and floors make of it", () => {
  const eager = { demand: 2000 };
  const rows: readonly (readonly [Change[], number, Mode, shares: number[]])[] = [
    [[{}, { demand: 20 }], 2000, "uncongested", [500, 100]],
    [[eager, { ...eager, weight: 200 }], 1500, "congested", [500, 1000]],
    [[{ ...eager, held: "half", present: 800, weight: 1 }, eager], 1000, "congested", [450, 550]],
    [[{ held: "half", present: 800, demand: 20 }], 1000, "uncongested", [450]],
    [[{ floor: 600 }, { floor: 300 }], 500, "overloaded", [600, 300]],
    [[], 0, "uncongested", []],
    [[{}], 0, "overloaded", [100]],
  ];
  for (const [changes, capacity, mode, shares] of rows) {
    const bidders = changes.map((change) => bidder(change, STEADY));
    const round = clearRound(bidders, { capacity });
    assert.equal(round.mode, mode);
    assert.deepEqual(round.outcomes.map(({ share }) => share), shares);
  }
  const two = [bidder({}, STEADY), bidder({ demand: 20 }, STEADY)];
  const { price, outcomes } = clearRound(two, { capacity: 2000 });
  assert.deepEqual([price, outcomes.map(({ bidFloor }) => bidFloor)], [0, [100, 20]]);
});

const anyChange: fc.Arbitrary<Change & HeldLimit> = fc.record({
  floor: fc.integer({ min: 0, max: 2000 }),
  room: fc.integer({ min: 0, max: 3000 }),
  weight: fc.double({ min: 0.1, max: 1e5, noNaN: true }),
  held: fc.constantFrom(undefined, undefined, "lower" as const, "both" as const),
  present: fc.integer({ min: 1, max: 5000 }),
  demand: fc.option(fc.double({ min: 0, max: 6000, noNaN: true }), { nil: undefined }),
}).map(({ room, ...rest }) => ({ ...rest, ceiling: rest.floor + room }));

forAll("clearRound() keeps bounds, holds, order and capacity for any bidders", [
  fc.array(anyChange, { maxLength: 20 }),
  fc.integer({ min: 0, max: 40_000 }),
], (drawn, capacity) => {
  const { mode, outcomes } = clearRound(drawn.map((change) => bidder(change)), { capacity });
  assert.equal(outcomes.length, drawn.length);
  let aboveFloors = 0;
  let least = 0;
  outcomes.forEach(({ floor, ceiling, share, need, ...outcome }, index) => {
    const { held, demand, present } = drawn[index] ?? {};
    assert.ok(floor <= share && share <= ceiling);
    assert.ok(Number.isInteger(share));
    assert.ok(outcome.bidFloor <= floor && need <= ceiling);
    if (held === "both" || demand === undefined) assert.equal(share, present);
    if (held === "lower") assert.ok(share >= (present ?? Infinity));
    if (mode === "overloaded") assert.equal(share, floor);
    // Rounding up to the grid is all that a share can have above the need.
    else assert.ok(share <= Math.max(floor, need + 10));
    if (share > floor) aboveFloors += share;
    else least += Math.min(outcome.bidFloor, share);
  });
  if (mode !== "overloaded") assert.ok(aboveFloors + least <= capacity + 1e-6);
});

pure("clearRound() divides what raises may not commit only as far as floors need it", () => {
  const divide = (floor: number) => {
    const hungry = bidder({ floor, demand: 4000, ceiling: 4000 }, STEADY);
    const { mode, outcomes } = clearRound([hungry, hungry], { capacity: 2000, grantable: 1800 });
    return [mode, ...outcomes.map(({ share }) => share)];
  };
  assert.deepEqual([100, 950, 1000].map(divide), [
    ["congested", 900, 900],
    ["congested", 950, 950],
    ["congested", 1000, 1000],
  ]);
  assert.equal(divide(1010)[0], "overloaded");
});

/** Thousandths of a millicore, up to 5000 m. */
const amount = fc.nat(5_000_000).map((n) => n / 1000);

const bounds: fc.Arbitrary<LimitBounds> = fc.tuple(amount, fc.oneof(fc.constant(0), amount))
  .map(([floor, width]) => ({ floor, ceiling: floor + width }));

/** Markets with bounds on the grid, as the agent clears them. */
const market = anyMarket.map(({ bids, capacity }) => ({
  capacity,
  bids: bids.map((bid) => ({ ...bid, ...roundBounds(bid) })),
}));

const onGrid = (value: number): boolean => value % GRID === 0;

pure("upToGrid() rounds up, but for what floating-point arithmetic adds", () => {
  assert.deepEqual([1, 10, 10.0000000001, 10.01].map(upToGrid), [10, 10, 10, 20]);
});

pure("isAtCeiling() takes no limit that a whole step of the grid is left to", () => {
  const at = (limit: number, ceiling: number) => isAtCeiling({ limit, ceiling });
  assert.deepEqual([at(900, 900), at(900, 905), at(905, 900), at(891, 900)], Array(4).fill(true));
  assert.deepEqual([at(890, 900), at(895, 905), at(0, 10)], Array(3).fill(false));
});

forAll("roundBounds() rounds the floor up and the ceiling down, or neither", [bounds], (given) => {
  assert.deepEqual(roundBounds({ floor: 12, ceiling: 25 }), { floor: 20, ceiling: 20 });
  assert.deepEqual(roundBounds({ floor: 12, ceiling: 18 }), { floor: 12, ceiling: 18 });
  const { floor, ceiling } = roundBounds(given);
  assert.ok(given.floor <= floor && floor <= ceiling && ceiling <= given.ceiling);
  if (onGrid(floor) && onGrid(ceiling)) {
    assert.ok(floor - given.floor < GRID && given.ceiling - ceiling < GRID);
  } else assert.deepEqual({ floor, ceiling }, given);
});

pure("roundShares() adds steps by remainder and index, floors off the grid first", () => {
  const wide = { floor: 0, ceiling: 1000 };
  const off = { floor: 37, ceiling: 200 };
  const rows: readonly (readonly [number[], LimitBounds, number, number[]])[] = [
    [[33, 38, 38, 41], wide, 150, [30, 40, 40, 40]],
    [[15, 15, 15], wide, 45, [20, 10, 10]],
    // The capacity is not used up.
    [[33, 41], wide, 500, [40, 50]],
    [[15], { floor: 12, ceiling: 18 }, 100, [12]],
    [[37, 98], off, 140, [40, 100]],
    [[37, 98], off, 135, [40, 90]],
    [[37, 37], off, 74, [40, 30]],
  ];
  for (const [shares, range, capacity, expected] of rows) {
    const rounded = roundShares(shares, shares.map(() => range), { capacity });
    assert.deepEqual([...rounded], expected);
  }
});

forAll("roundShares() keeps grid, bounds and capacity, and fills them", [market], (all) => {
  const { bids, capacity } = all;
  const { mode, shares } = clearMarket(bids, capacity);
  const rounded = roundShares(shares, bids, { capacity });
  // The clearing's own slack: its shares may exceed the capacity in the twelfth digit.
  assert.ok(exactSum(rounded) <= Math.max(0, capacity) * (1 + 1e-12));
  for (const [i, { floor, ceiling }] of bids.entries()) {
    const [limit, share] = [rounded[i] as number, shares[i] as number];
    const narrow = !onGrid(floor) || !onGrid(ceiling);
    assert.ok(onGrid(limit) || (narrow && limit === floor));
    assert.ok(limit <= ceiling && (limit >= floor || mode === "overloaded"));
    assert.ok(limit < share + GRID && limit > share - GRID);
    const isShort = onGrid(limit) && limit < share && limit + GRID <= ceiling;
    if (isShort) assert.ok(capacity - exactSum(rounded) < GRID);
  }
});

const creditAmount = fc.oneof(fc.double({ min: 1, max: 1e4, noNaN: true }), fc.constant(0));
const credit = fc.double({ min: CREDIT_BOUNDS.least, max: CREDIT_BOUNDS.most, noNaN: true });
const step: fc.Arbitrary<CreditStep> = fc.record({
  ...{ share: creditAmount, need: creditAmount, entitlement: creditAmount },
  intervalMs: fc.double({ min: 0, max: 3e6, noNaN: true }),
});
/** Powers and logarithms of numbers near 1 are good to a few units of the last place. */
const ROUNDING = 1e-14;
const near = (a: number, b: number): boolean => Math.abs(a - b) <= ROUNDING;

pure("creditAfter() gives the worked values of one half-life", () => {
  const rows = [
    [1, { need: 0, share: 0 }, Math.SQRT2],
    [1, { need: 500, share: 500 }, 2 ** 0.25],
    [1, { need: 1500, share: 1500 }, 2 ** -0.25],
    [1, { need: 1500, share: 1000 }, 1],
    [2, { need: 1500, share: 1000 }, Math.SQRT2],
    [0.5, { need: 1000, share: 1000 }, Math.SQRT1_2],
  ] as const;
  for (const [from, taken, after] of rows) {
    const interval = { entitlement: 1000, intervalMs: CREDIT_HALF_LIFE_MS };
    assert.ok(near(creditAfter(from, { ...taken, ...interval }), after), `${after}`);
  }
});

forAll("creditAfter() stays within bounds, neutral without a difference, at any scale of CPU", [
  fc.record({ from: credit, taken: step, more: creditAmount }),
  fc.double({ min: 0, max: 1, noNaN: true }),
  fc.integer({ min: -3, max: 3 }),
], ({ from, taken, more }, part, exponent) => {
  const { share, need, entitlement, intervalMs } = taken;
  const after = creditAfter(from, taken);
  assert.ok(after >= CREDIT_BOUNDS.least && after <= CREDIT_BOUNDS.most);
  const neither = { share: Math.min(share, entitlement), need: entitlement + more };
  assert.equal(creditAfter(1, { ...taken, ...neither }), 1);
  // The same for an interval and for its two parts.
  const between = creditAfter(from, { ...taken, intervalMs: part * intervalMs });
  assert.ok(near(creditAfter(between, { ...taken, intervalMs: (1 - part) * intervalMs }), after));
  const [a = 0, b = 0, c = 0] = [share, need, entitlement].map((one) => one * 2 ** exponent);
  assert.equal(creditAfter(from, { share: a, need: b, entitlement: c, intervalMs }), after);
});

const sum = (values: readonly number[]): number => values.reduce((total, each) => total + each, 0);

pure("splitByRequest() splits by request, or equally, whole values by largest remainder", () => {
  assert.deepEqual(splitByRequest(400, [100, 300]), [100, 300]);
  assert.deepEqual(splitByRequest(0.5, [1, 3]), [0.125, 0.375]);
  assert.deepEqual(splitByRequest(400, [0, 300]), [0, 400]);
  assert.deepEqual(splitByRequest(100, [0, 0, 0, 0]), [25, 25, 25, 25]);
  assert.deepEqual(splitByRequest(100, [1, 1, 1]), [34, 33, 33]);
  assert.deepEqual(splitByRequest(10, [1, 2, 4]), [1, 3, 6]);
  assert.deepEqual(splitByRequest(1, [5, 5]), [1, 0]);
});

forAll("splitByRequest() gives parts near the proportion that sum to the value in any order", [
  fc.oneof(fc.nat(1_000_000), logUniform(-6, 9), fc.constant(0)),
  fc.array(fc.oneof(fc.nat(16_000), fc.constant(0)), { minLength: 1, maxLength: 20 }),
], (value, weights) => {
  const parts = splitByRequest(value, weights);
  for (const order of [parts, parts.toReversed(), parts.toSorted((a, b) => a - b)]) {
    assert.equal(sum(order), value);
  }
  const total = sum(weights);
  const isWhole = Number.isInteger(value);
  parts.forEach((part, i) => {
    assert.ok(part >= 0 && (!isWhole || Number.isInteger(part)));
    const exact = total > 0 ? value * (weights[i] as number) / total : value / weights.length;
    assert.ok(Math.abs(part - exact) < (isWhole ? 1 : 1e-12 * value));
  });
});

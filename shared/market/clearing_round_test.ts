import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { forAll } from "../../tests/fixtures/for_all.ts";
import fc from "fast-check";
import {
  type Bidder,
  bidOf,
  clearRound,
  limitBounds,
  marketCapacity,
  withStartupDemand,
} from "./clearing_round.ts";
import type { Bid, Mode } from "./solver.ts";

pure("marketCapacity() takes off a reserve, pressures and unmanaged use", () => {
  const rows = [
    [{ allocatable: 8000, unmanaged: 500, pressures: 0 }, 6700],
    [{ allocatable: 8000, unmanaged: 0, pressures: 0, reserve: 0 }, 8000],
    [{ allocatable: 10_000, unmanaged: 0, pressures: 2 }, 7290],
    [{ allocatable: 1000, unmanaged: 5000, pressures: 3 }, 0],
  ] as const;
  for (const [input, capacity] of rows) {
    assert.ok(Math.abs(marketCapacity(input) - capacity) < 1e-9, `${capacity}`);
  }
});

const BIDDER: Bidder = {
  ...{ floor: 100, ceiling: 800, weight: 50, credit: 2, present: 300, demand: 400 },
};

pure("bidOf() bids weight × credit, demand on the grid, and a floor of at most the demand", () => {
  const usual = { weight: 100, floor: 100, ceiling: 800, demand: 400 };
  const rows: readonly (readonly [Partial<Bidder>, Partial<Bid>])[] = [
    [{}, {}],
    [{ demand: 42 }, { floor: 42, demand: 50 }],
    [{ demand: 1 }, { floor: 10, demand: 10 }],
    [{ demand: 142 }, { demand: 150 }],
    [{ demand: 150 }, { demand: 150 }],
    [{ demand: undefined }, { floor: 300, ceiling: 300, demand: 300 }],
  ];
  for (const [fields, bid] of rows) {
    assert.deepEqual(bidOf({ ...BIDDER, ...fields }), { ...usual, ...bid });
  }
  assert.equal(bidOf({ ...BIDDER, demand: 0 }).floor, 10);
  assert.equal(bidOf({ ...BIDDER, floor: 4, demand: 0 }).floor, 4);
});

pure("limitBounds() are what holds allow: no change, no decrease, or half of the way down", () => {
  const rows: readonly (readonly [Partial<Bidder>, floor: number, ceiling: number])[] = [
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
    assert.deepEqual(limitBounds({ ...BIDDER, ...fields }), { floor, ceiling });
  }
});

forAll(
  "limitBounds() never has a floor above its ceiling, and each hold includes the weaker ones",
  [fc.record({
    floor: fc.integer({ min: 10, max: 5000 }),
    spare: fc.nat(5000),
    present: fc.integer({ min: 1, max: 12_000 }),
    demand: fc.option(fc.nat(12_000), { nil: undefined }),
  })],
  ({ floor: least, spare, ...rest }) => {
    const bidder = { ...BIDDER, ...rest, floor: least, ceiling: least + spare };
    const holds = ([undefined, "half", "lower", "both"] as const)
      .map((held) => limitBounds({ ...bidder, held }));
    for (const { floor, ceiling } of holds) assert.ok(floor <= ceiling);
    if (bidder.demand === undefined || bidder.present < least) return;
    const floors = holds.map(({ floor }) => floor);
    assert.deepEqual(floors, floors.toSorted((a, b) => a - b));
    assert.equal(holds[3]?.ceiling, bidder.present);
  },
);

pure("withStartupDemand() divides what is spare by weight among those that start", () => {
  const starts = (fields: Partial<Bidder> = {}): Bidder => ({
    ...{ floor: 100, ceiling: 1000, weight: 100, credit: 1, present: 200, demand: 50, boost: true },
    ...fields,
  });
  const rows: readonly (readonly [readonly Bidder[], spare: number, (number | undefined)[]])[] = [
    [[starts(), starts({ weight: 300 }), starts({ boost: false })], 400, [300, 500, 50]],
    // No more than the ceiling, and no less than is needed.
    [[starts()], 5000, [1000]],
    [[starts({ demand: 700 })], 100, [700]],
    // What was given stays while nothing is spare; below that it asks for nothing.
    [[starts({ present: 600 })], 0, [600]],
    [[starts({ present: 600 })], -1, [50]],
    [[starts({ demand: undefined })], 400, [undefined]],
    [[starts({ held: "both" })], 400, [50]],
  ];
  for (const [bidders, spare, demands] of rows) {
    assert.deepEqual(withStartupDemand(bidders, { spare }).map(({ demand }) => demand), demands);
  }
});

const STEADY: Bidder = {
  ...{ floor: 100, ceiling: 2000, weight: 100, credit: 1, present: 500, demand: 500 },
};

pure("clearRound() gives what is needed, or what weight, holds and floors make of it", () => {
  const eager = { demand: 2000 };
  const rows: readonly (readonly [Partial<Bidder>[], number, Mode, shares: number[]])[] = [
    [[{}, { demand: 20 }], 2000, "uncongested", [500, 100]],
    [[eager, { ...eager, credit: 2 }], 1500, "congested", [500, 1000]],
    [[{ ...eager, held: "half", present: 800, weight: 1 }, eager], 1000, "congested", [450, 550]],
    [[{ held: "half", present: 800, demand: 20 }], 1000, "uncongested", [450]],
    [[{ floor: 600 }, { floor: 300 }], 500, "overloaded", [600, 300]],
    [[], 0, "uncongested", []],
    [[{}], 0, "overloaded", [100]],
  ];
  for (const [changes, capacity, mode, shares] of rows) {
    const round = clearRound(changes.map((change) => ({ ...STEADY, ...change })), { capacity });
    assert.equal(round.mode, mode);
    assert.deepEqual(round.outcomes.map(({ share }) => share), shares);
    assert.deepEqual(round.outcomes.map(({ target }) => target), shares);
  }
  const { price, outcomes } = clearRound([STEADY, { ...STEADY, demand: 20 }], { capacity: 2000 });
  assert.deepEqual([price, outcomes.map(({ least }) => least)], [0, [100, 20]]);
});

const anyBidder: fc.Arbitrary<Bidder> = fc.record({
  floor: fc.integer({ min: 0, max: 2000 }),
  room: fc.integer({ min: 0, max: 3000 }),
  weight: fc.double({ min: 0.1, max: 1e5, noNaN: true }),
  credit: fc.double({ min: 0.5, max: 2, noNaN: true }),
  held: fc.constantFrom(undefined, undefined, "lower" as const, "both" as const),
  present: fc.integer({ min: 1, max: 5000 }),
  demand: fc.option(fc.double({ min: 0, max: 6000, noNaN: true }), { nil: undefined }),
}).map(({ room, ...rest }) => ({ ...rest, ceiling: rest.floor + room }));

forAll("clearRound() keeps bounds, holds, order and capacity for any bidders", [
  fc.array(anyBidder, { maxLength: 20 }),
  fc.integer({ min: 0, max: 40_000 }),
], (bidders, capacity) => {
  const { mode, outcomes } = clearRound(bidders, { capacity });
  assert.equal(outcomes.length, bidders.length);
  let aboveFloors = 0;
  let least = 0;
  outcomes.forEach(({ floor, ceiling, share, target, need, ...outcome }, index) => {
    const { held, demand, present } = bidders[index] ?? {};
    assert.ok(floor <= share && share <= target && target <= ceiling);
    assert.ok(Number.isInteger(share) && Number.isInteger(target));
    assert.ok(outcome.least <= floor && need <= ceiling);
    if (held === "both" || demand === undefined) assert.equal(target, present);
    if (held === "lower") assert.ok(share >= (present ?? Infinity));
    if (mode === "overloaded") assert.equal(target, floor);
    // Rounding up to the grid is all that a share can have above the need.
    else assert.ok(share <= Math.max(floor, need + 10));
    if (share > floor) aboveFloors += share;
    else least += Math.min(outcome.least, share);
  });
  if (mode !== "overloaded") assert.ok(aboveFloors + least <= capacity + 1e-6);
});

pure("clearRound() divides what raises may not commit only as far as floors need it", () => {
  const divide = (floor: number) => {
    const hungry = { ...STEADY, floor, demand: 4000, ceiling: 4000 };
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

import assert from "node:assert/strict";
import fc from "fast-check";
import { forAll } from "../../tests/fixtures/for_all.ts";
import { needOf } from "../../tests/fixtures/market/bids_arbitrary.ts";
import { exactSum } from "../../tests/fixtures/market/clearing_residual.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { GRID } from "../quantity.ts";
import { type LimitRange, roundBounds, roundShares, upToGrid } from "./rounding.ts";
import { type Bid, clearMarket } from "./solver.ts";

/** Thousandths of a millicore, up to 5000 m. */
const amount = fc.nat(5_000_000).map((n) => n / 1000);

const bounds: fc.Arbitrary<LimitRange> = fc.tuple(amount, fc.oneof(fc.constant(0), amount))
  .map(([floor, width]) => ({ floor, ceiling: floor + width }));

/** A market with bounds on the grid, as the agent clears it, and its capacity. */
const market: fc.Arbitrary<{ bids: Bid[]; capacity: number }> = fc.array(
  fc.record({
    weight: fc.integer({ min: 1, max: 5000 }),
    range: bounds.map(roundBounds),
    demand: amount,
  }).map(({ weight, range, demand }) => ({ weight, ...range, demand })),
  { minLength: 1, maxLength: 20 },
).chain((bids) =>
  fc.nat(1300).map((n) => ({ bids, capacity: n / 1000 * exactSum(bids.map(needOf)) }))
);

const onGrid = (value: number): boolean => value % GRID === 0;

pure("upToGrid() rounds up, but for what floating-point arithmetic adds", () => {
  assert.deepEqual([1, 10, 10.0000000001, 10.01].map(upToGrid), [10, 10, 10, 20]);
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

pure("roundShares() hands out steps by remainder and index, floors off the grid first", () => {
  const wide = { floor: 0, ceiling: 1000 };
  const off = { floor: 37, ceiling: 200 };
  const rows: readonly (readonly [number[], LimitRange, number, number[]])[] = [
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

forAll(
  "roundShares() keeps grid, bounds and capacity, and leaves no step over",
  [market],
  (all) => {
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
  },
);

forAll("roundShares() puts equal bidders within a step, the earlier first", [market], (all) => {
  const { bids, capacity } = all;
  const twice = [...bids, ...bids];
  const { shares } = clearMarket(twice, capacity);
  const rounded = roundShares(shares, twice, { capacity });
  for (let i = 0; i < bids.length; i++) {
    const difference = (rounded[i] as number) - (rounded[i + bids.length] as number);
    assert.ok(difference === 0 || difference === GRID);
  }
});

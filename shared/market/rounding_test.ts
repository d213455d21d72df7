import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import { needOf } from "../../tests/fixtures/market/bids_arbitrary.ts";
import { cases } from "../../tests/fixtures/cases.ts";
import { exactSum } from "../../tests/fixtures/market/clearing_residual.ts";
import { GRID } from "../quantity.ts";
import { type LimitRange, roundBounds, roundShares } from "./rounding.ts";
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

pure("roundBounds() rounds the floor up and the ceiling down, or changes neither", () => {
  assert.deepEqual(roundBounds({ floor: 12, ceiling: 25 }), { floor: 20, ceiling: 20 });
  assert.deepEqual(roundBounds({ floor: 100, ceiling: 400 }), { floor: 100, ceiling: 400 });
  assert.deepEqual(roundBounds({ floor: 12, ceiling: 18 }), { floor: 12, ceiling: 18 });
  fc.assert(
    fc.property(bounds, (given) => {
      const { floor, ceiling } = roundBounds(given);
      assert.ok(given.floor <= floor && floor <= ceiling && ceiling <= given.ceiling);
      if (onGrid(floor) && onGrid(ceiling)) {
        assert.ok(floor - given.floor < GRID && given.ceiling - ceiling < GRID);
      } else assert.deepEqual({ floor, ceiling }, given);
      assert.deepEqual(roundBounds({ floor, ceiling }), { floor, ceiling });
    }),
    cases(5),
  );
});

pure("roundShares() hands out steps by the largest remainder, the lower index first", () => {
  const wide = { floor: 0, ceiling: 1000 };
  const rounded = roundShares([33, 38, 38, 41], [wide, wide, wide, wide], { capacity: 150 });
  assert.deepEqual([...rounded], [30, 40, 40, 40]);
  assert.deepEqual([...roundShares([15, 15, 15], [wide, wide, wide], { capacity: 45 })], [
    20,
    10,
    10,
  ]);
});

pure("roundShares() rounds up where the capacity is not used up", () => {
  const wide = { floor: 0, ceiling: 1000 };
  assert.deepEqual([...roundShares([33, 41], [wide, wide], { capacity: 500 })], [40, 50]);
});

pure("roundShares() gives the floor where no multiple of the step lies between the bounds", () => {
  const narrow = { floor: 12, ceiling: 18 };
  assert.deepEqual([...roundShares([15], [narrow], { capacity: 100 })], [12]);
});

pure("roundShares() keeps a floor off the grid while the capacity reaches", () => {
  const range = { floor: 37, ceiling: 200 };
  assert.deepEqual([...roundShares([37, 98], [range, range], { capacity: 140 })], [40, 100]);
  assert.deepEqual([...roundShares([37, 98], [range, range], { capacity: 135 })], [40, 90]);
  assert.deepEqual([...roundShares([37, 37], [range, range], { capacity: 74 })], [40, 30]);
});

pure("roundShares() stays on the grid, within the bounds and within the capacity", () => {
  fc.assert(
    fc.property(market, ({ bids, capacity }) => {
      const { mode, shares } = clearMarket(bids, capacity);
      const rounded = roundShares(shares, bids, { capacity });
      // The clearing's own slack: its shares may exceed the capacity in the twelfth digit.
      assert.ok(exactSum(rounded) <= Math.max(0, capacity) * (1 + 1e-12));
      for (const [i, { floor, ceiling }] of bids.entries()) {
        const limit = rounded[i] as number;
        const narrow = !onGrid(floor) || !onGrid(ceiling);
        assert.ok(onGrid(limit) || (narrow && limit === floor));
        assert.ok(limit <= ceiling);
        assert.ok(limit >= floor || mode === "overloaded");
        assert.ok(limit < (shares[i] as number) + GRID);
        assert.ok(limit > (shares[i] as number) - GRID);
      }
    }),
    cases(5),
  );
});

pure("roundShares() leaves less than a step over while a container is below its share", () => {
  fc.assert(
    fc.property(market, ({ bids, capacity }) => {
      const { shares } = clearMarket(bids, capacity);
      const rounded = roundShares(shares, bids, { capacity });
      const wanting = bids.some(({ ceiling }, i) => {
        const limit = rounded[i] as number;
        return onGrid(limit) && limit < (shares[i] as number) && limit + GRID <= ceiling;
      });
      if (wanting) assert.ok(capacity - exactSum(rounded) < GRID);
    }),
    cases(5),
  );
});

pure("roundShares() puts equal bidders within one step, the earlier not below the later", () => {
  fc.assert(
    fc.property(market, ({ bids, capacity }) => {
      const twice = [...bids, ...bids];
      const { shares } = clearMarket(twice, capacity);
      const rounded = roundShares(shares, twice, { capacity });
      for (let i = 0; i < bids.length; i++) {
        const difference = (rounded[i] as number) - (rounded[i + bids.length] as number);
        assert.ok(difference === 0 || difference === GRID);
      }
    }),
    cases(5),
  );
});

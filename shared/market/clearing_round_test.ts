import assert from "node:assert/strict";
import fc from "fast-check";
import { cases } from "../../tests/fixtures/cases.ts";
import type { Bidder } from "./bids.ts";
import { clearRound } from "./clearing_round.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function bidder(fields: Partial<Bidder>): Bidder {
  return {
    floor: 100,
    ceiling: 2000,
    weight: 100,
    credit: 1,
    present: 500,
    demand: 500,
    ...fields,
  };
}

pure("clearRound() gives what is needed where there is enough", () => {
  const { mode, price, outcomes } = clearRound([bidder({}), bidder({ demand: 20 })], {
    capacity: 2000,
  });
  assert.deepEqual([mode, price], ["uncongested", 0]);
  assert.deepEqual(outcomes.map(({ share }) => share), [500, 100]);
  assert.deepEqual(outcomes.map(({ least }) => least), [100, 20]);
});

pure("clearRound() splits what is short by weight and credit", () => {
  const bidders = [bidder({ demand: 2000 }), bidder({ demand: 2000, credit: 2 })];
  const { mode, outcomes } = clearRound(bidders, { capacity: 1500 });
  assert.equal(mode, "congested");
  assert.deepEqual(outcomes.map(({ share }) => share), [500, 1000]);
});

pure(
  "clearRound() lowers a limit that goes down by half steps half of the way, and no less",
  () => {
    const bidders = [
      bidder({ held: "half", present: 800, demand: 2000, weight: 1 }),
      bidder({ demand: 2000 }),
    ];
    const { mode, outcomes } = clearRound(bidders, { capacity: 1000 });
    assert.equal(mode, "congested");
    assert.deepEqual(outcomes.map(({ share }) => share), [450, 550]);
    const idle = clearRound([bidder({ held: "half", present: 800, demand: 20 })], {
      capacity: 1000,
    });
    assert.deepEqual(idle.outcomes.map(({ share }) => share), [450]);
  },
);

pure("clearRound() keeps limits at their floors when these alone are too much", () => {
  const bidders = [bidder({ floor: 600 }), bidder({ floor: 300 })];
  const { mode, outcomes } = clearRound(bidders, { capacity: 500 });
  assert.equal(mode, "overloaded");
  assert.deepEqual(outcomes.map(({ share, target }) => [share, target]), [[600, 600], [300, 300]]);
});

pure("clearRound() clears no bids, and without any capacity", () => {
  assert.deepEqual(clearRound([], { capacity: 0 }).outcomes, []);
  assert.equal(clearRound([bidder({})], { capacity: 0 }).outcomes[0]?.share, 100);
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

pure("clearRound() keeps bounds, holds, order and capacity for any bidders", () => {
  fc.assert(
    fc.property(
      fc.array(anyBidder, { maxLength: 20 }),
      fc.integer({ min: 0, max: 40_000 }),
      (bidders, capacity) => {
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
      },
    ),
    cases(5),
  );
});

pure("clearRound() divides what raises may not commit only as far as floors need it", () => {
  const hungry = (floor: number): Bidder => bidder({ floor, demand: 4000, ceiling: 4000 });
  const divide = (floor: number) => {
    const { mode, outcomes } = clearRound([hungry(floor), hungry(floor)], {
      capacity: 2000,
      grantable: 1800,
    });
    return { mode, shares: outcomes.map(({ share }) => share) };
  };
  assert.deepEqual(divide(100), { mode: "congested", shares: [900, 900] });
  assert.deepEqual(divide(950), { mode: "congested", shares: [950, 950] });
  assert.deepEqual(divide(1000), { mode: "congested", shares: [1000, 1000] });
  assert.equal(divide(1010).mode, "overloaded");
});

import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import {
  type Bidder,
  bidOf,
  clearRound,
  limitBounds,
  marketCapacity,
  withStartupDemand,
} from "./clearing_round.ts";
import { cases } from "../../tests/fixtures/cases.ts";

pure("marketCapacity() leaves a tenth and what unmanaged pods hold", () => {
  assert.equal(marketCapacity({ allocatable: 8000, unmanaged: 500, pressures: 0 }), 6700);
  assert.equal(marketCapacity({ allocatable: 8000, unmanaged: 0, pressures: 0, reserve: 0 }), 8000);
});

pure("marketCapacity() takes a tenth for each pressure, and they multiply", () => {
  const capacity = marketCapacity({ allocatable: 10_000, unmanaged: 0, pressures: 2 });
  assert.ok(Math.abs(capacity - 7290) < 1e-9);
});

pure("marketCapacity() is never negative", () => {
  assert.equal(marketCapacity({ allocatable: 1000, unmanaged: 5000, pressures: 3 }), 0);
});

const BIDDER: Bidder = {
  floor: 100,
  ceiling: 800,
  weight: 50,
  credit: 2,
  present: 300,
  demand: 400,
};

pure("bidOf() bids with weight times credit, and the whole floor when that is needed", () => {
  assert.deepEqual(bidOf(BIDDER), { weight: 100, floor: 100, ceiling: 800, demand: 400 });
});

pure("bidOf() asks for no more than an idle container's demand, and at least 10 m", () => {
  assert.equal(bidOf({ ...BIDDER, demand: 42 }).floor, 42);
  assert.equal(bidOf({ ...BIDDER, demand: 0 }).floor, 10);
  assert.equal(bidOf({ ...BIDDER, floor: 4, demand: 0 }).floor, 4);
});

pure("bidOf() rounds demand up to the grid, where its limit will be", () => {
  assert.equal(bidOf({ ...BIDDER, demand: 142 }).demand, 150);
  assert.equal(bidOf({ ...BIDDER, demand: 150 }).demand, 150);
});

pure("limitBounds() pins a held container and one without readings, and its bid with it", () => {
  const pinned = { floor: 300, ceiling: 300 };
  assert.deepEqual(limitBounds({ ...BIDDER, held: "both" }), pinned);
  assert.deepEqual(limitBounds({ ...BIDDER, demand: undefined }), pinned);
  const bid = bidOf({ ...BIDDER, demand: undefined });
  assert.deepEqual(bid, { weight: 100, floor: 300, ceiling: 300, demand: 300 });
});

pure("limitBounds() lets a container that must not be lowered rise only", () => {
  assert.deepEqual(limitBounds({ ...BIDDER, held: "lower" }), { floor: 300, ceiling: 800 });
  assert.deepEqual(
    limitBounds({ ...BIDDER, held: "lower", present: 900 }),
    { floor: 900, ceiling: 900 },
  );
});

pure(
  "limitBounds() raises a container that must not be lowered to a floor that has come up",
  () => {
    assert.deepEqual(
      limitBounds({ ...BIDDER, held: "lower", present: 60 }),
      { floor: 100, ceiling: 800 },
    );
  },
);

pure("limitBounds() lets a container that goes down by half steps rise freely", () => {
  assert.deepEqual(limitBounds({ ...BIDDER, held: "half" }), { floor: 200, ceiling: 800 });
  // A ceiling that has come down is no matter of steps.
  const above = { ...BIDDER, held: "half", present: 900 } as const;
  assert.deepEqual(limitBounds(above), { floor: 500, ceiling: 800 });
  assert.deepEqual(limitBounds({ ...above, present: 2000 }), { floor: 800, ceiling: 800 });
  const below = limitBounds({ ...BIDDER, held: "half", present: 60 });
  assert.deepEqual([below.floor, below.ceiling], [100, 800]);
});

pure("limitBounds() goes down to the floor by half steps, and no further", () => {
  let present = 800;
  for (let step = 0; step < 40; step++) {
    const { floor } = limitBounds({ ...BIDDER, held: "half", present });
    assert.ok(floor >= BIDDER.floor && floor <= present);
    present = floor;
  }
  assert.ok(present - BIDDER.floor < 1e-6);
});

pure(
  "limitBounds() never has a floor above its ceiling, and each hold includes the weaker ones",
  () => {
    const bidder = fc.record({
      floor: fc.integer({ min: 10, max: 5000 }),
      spare: fc.nat(5000),
      present: fc.integer({ min: 1, max: 12_000 }),
      demand: fc.option(fc.nat(12_000), { nil: undefined }),
    }).map(({ floor, spare, ...rest }) => ({ ...BIDDER, ...rest, floor, ceiling: floor + spare }));
    fc.assert(
      fc.property(bidder, (one) => {
        const of = (held?: Bidder["held"]) => limitBounds({ ...one, held });
        const holds = [of(), of("half"), of("lower"), of("both")];
        for (const { floor, ceiling } of holds) assert.ok(floor <= ceiling);
        if (one.demand === undefined || one.present < one.floor) return;
        const floors = holds.map(({ floor }) => floor);
        assert.deepEqual(floors, floors.toSorted((a, b) => a - b));
        assert.equal(holds[3]?.ceiling, one.present);
      }),
      cases(5),
    );
  },
);

function bidder(change: Partial<Bidder> = {}): Bidder {
  return {
    floor: 100,
    ceiling: 1000,
    weight: 100,
    credit: 1,
    present: 200,
    demand: 50,
    ...change,
  };
}

function demands(bidders: readonly Bidder[], spare: number): readonly (number | undefined)[] {
  return withStartupDemand(bidders, { spare }).map(({ demand }) => demand);
}

pure("withStartupDemand() divides what is spare by weight among those that start", () => {
  const pair = [bidder({ boost: true }), bidder({ boost: true, weight: 300 }), bidder()];
  assert.deepEqual(demands(pair, 400), [300, 500, 50]);
});

pure(
  "withStartupDemand() asks for no more than the ceiling, and for no less than is needed",
  () => {
    assert.deepEqual(demands([bidder({ boost: true })], 5000), [1000]);
    assert.deepEqual(demands([bidder({ boost: true, demand: 700 })], 100), [700]);
  },
);

pure(
  "withStartupDemand() keeps what was given while nothing is spare, and asks for nothing below",
  () => {
    assert.deepEqual(demands([bidder({ boost: true, present: 600 })], 0), [600]);
    assert.deepEqual(demands([bidder({ boost: true, present: 600 })], -1), [50]);
  },
);

pure(
  "withStartupDemand() leaves out containers without readings, held ones, and those that do not start",
  () => {
    assert.deepEqual(demands([bidder({ boost: true, demand: undefined })], 400), [undefined]);
    assert.deepEqual(demands([bidder({ boost: true, held: "both" })], 400), [50]);
    assert.deepEqual(demands([bidder()], 400), [50]);
  },
);

function steady(fields: Partial<Bidder>): Bidder {
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
  const { mode, price, outcomes } = clearRound([steady({}), steady({ demand: 20 })], {
    capacity: 2000,
  });
  assert.deepEqual([mode, price], ["uncongested", 0]);
  assert.deepEqual(outcomes.map(({ share }) => share), [500, 100]);
  assert.deepEqual(outcomes.map(({ least }) => least), [100, 20]);
});

pure("clearRound() splits what is short by weight and credit", () => {
  const bidders = [steady({ demand: 2000 }), steady({ demand: 2000, credit: 2 })];
  const { mode, outcomes } = clearRound(bidders, { capacity: 1500 });
  assert.equal(mode, "congested");
  assert.deepEqual(outcomes.map(({ share }) => share), [500, 1000]);
});

pure(
  "clearRound() lowers a limit that goes down by half steps half of the way, and no less",
  () => {
    const bidders = [
      steady({ held: "half", present: 800, demand: 2000, weight: 1 }),
      steady({ demand: 2000 }),
    ];
    const { mode, outcomes } = clearRound(bidders, { capacity: 1000 });
    assert.equal(mode, "congested");
    assert.deepEqual(outcomes.map(({ share }) => share), [450, 550]);
    const idle = clearRound([steady({ held: "half", present: 800, demand: 20 })], {
      capacity: 1000,
    });
    assert.deepEqual(idle.outcomes.map(({ share }) => share), [450]);
  },
);

pure("clearRound() keeps limits at their floors when these alone are too much", () => {
  const bidders = [steady({ floor: 600 }), steady({ floor: 300 })];
  const { mode, outcomes } = clearRound(bidders, { capacity: 500 });
  assert.equal(mode, "overloaded");
  assert.deepEqual(outcomes.map(({ share, target }) => [share, target]), [[600, 600], [300, 300]]);
});

pure("clearRound() clears no bids, and without any capacity", () => {
  assert.deepEqual(clearRound([], { capacity: 0 }).outcomes, []);
  assert.equal(clearRound([steady({})], { capacity: 0 }).outcomes[0]?.share, 100);
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
  const hungry = (floor: number): Bidder => steady({ floor, demand: 4000, ceiling: 4000 });
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

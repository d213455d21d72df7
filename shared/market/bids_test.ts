import assert from "node:assert/strict";
import fc from "fast-check";
import { cases } from "../../tests/fixtures/cases.ts";
import { type Bidder, bidOf, limitBounds, withStartupDemand } from "./bids.ts";

const BIDDER: Bidder = {
  floor: 100,
  ceiling: 800,
  weight: 50,
  credit: 2,
  present: 300,
  demand: 400,
};

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

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

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

test("withStartupDemand() divides what is spare by weight among those that start", () => {
  const pair = [bidder({ boost: true }), bidder({ boost: true, weight: 300 }), bidder()];
  assert.deepEqual(demands(pair, 400), [300, 500, 50]);
});

test("withStartupDemand() asks for no more than the ceiling, and for no less than is needed", () => {
  assert.deepEqual(demands([bidder({ boost: true })], 5000), [1000]);
  assert.deepEqual(demands([bidder({ boost: true, demand: 700 })], 100), [700]);
});

test("withStartupDemand() keeps what was given while nothing is spare, and asks for nothing below", () => {
  assert.deepEqual(demands([bidder({ boost: true, present: 600 })], 0), [600]);
  assert.deepEqual(demands([bidder({ boost: true, present: 600 })], -1), [50]);
});

test("withStartupDemand() leaves out containers without readings, held ones, and those that do not start", () => {
  assert.deepEqual(demands([bidder({ boost: true, demand: undefined })], 400), [undefined]);
  assert.deepEqual(demands([bidder({ boost: true, held: "both" })], 400), [50]);
  assert.deepEqual(demands([bidder()], 400), [50]);
});

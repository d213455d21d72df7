import assert from "node:assert/strict";
import type { Bidder } from "./bids.ts";
import { withStartupDemand } from "./startup_demand.ts";

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

test("withStartupDemand() leaves out who has no readings, who is held, and who does not start", () => {
  assert.deepEqual(demands([bidder({ boost: true, demand: undefined })], 400), [undefined]);
  assert.deepEqual(demands([bidder({ boost: true, held: "both" })], 400), [50]);
  assert.deepEqual(demands([bidder()], 400), [50]);
});

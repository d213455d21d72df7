import assert from "node:assert/strict";
import { type Bidder, bidOf, limitBounds } from "./bids.ts";

const BIDDER: Bidder = {
  floor: 100,
  ceiling: 800,
  weight: 50,
  credit: 2,
  present: 300,
  ownLimit: 200,
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

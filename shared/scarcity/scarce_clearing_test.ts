import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { forAll } from "../../tests/fixtures/for_all.ts";
import fc from "fast-check";
import { exactSum, residual } from "../../tests/fixtures/market/clearing_residual.ts";
import { clearMarket } from "../market/solver.ts";
import { GRID } from "../quantity.ts";
import {
  clearScarce,
  DIVIDED,
  type ScarceBidder,
  waitByWeight,
  type WeighedUsage,
} from "./scarce_clearing.ts";

/** A container at its ceiling of 4000 m that uses 1000 m, with an original limit of 500 m. */
function bidder(
  { usage = 1000, usageNow = usage, waiting = 0, ...change }:
    & Partial<Omit<ScarceBidder, "load">>
    & {
      readonly usage?: number;
      readonly usageNow?: number;
      readonly waiting?: number | null | undefined;
    } = {},
): ScarceBidder {
  return {
    floor: 10,
    ceiling: 4000,
    weight: 100,
    limit: 4000,
    originalLimit: 500,
    need: usage,
    saturatedMs: 0,
    throttled: false,
    load: { usageNow, usage1s: usage, usage, ...(waiting === null ? {} : { waiting }) },
    ...change,
  };
}

const bidsOf = (bidders: readonly ScarceBidder[], capacity = 4000): number[] =>
  clearScarce(bidders, capacity).shares.map(({ bid }) => bid);
const sharesOf = (bidders: readonly ScarceBidder[], capacity: number): number[] =>
  clearScarce(bidders, capacity).shares.map(({ share }) => share);

pure("clearScarce() lets a container at its ceiling bid 1.05 of its usage, on the grid", () => {
  // 1050; 1056.3 → 1060; below a step 1 to 9; at most the ceiling; what it needs is not looked at.
  const usages = [1000, 1006, 0, 8, 3900];
  assert.deepEqual(bidsOf(usages.map((usage) => bidder({ usage, need: 2000 }))), [
    1050,
    1060,
    1,
    9,
    4000,
  ]);
});

pure("clearScarce() lets a container that waits bid twice as much, within its part", () => {
  // Parts of 1.08 × 4000: 2160 each. 2 × 1.05 × 900 = 1890.
  const other = bidder();
  assert.deepEqual(bidsOf([bidder({ waiting: 0.2, usage: 900 }), other]), [1890, 1050]);
  assert.deepEqual(bidsOf([bidder({ waiting: 0.19, usage: 900 }), other]), [950, 1050]);
  // Without PSI it may wait.
  assert.deepEqual(bidsOf([bidder({ waiting: null, usage: 900 }), other]), [1890, 1050]);
  assert.deepEqual(bidsOf([bidder({ waiting: 1, usage: 2000 }), other]), [2160, 1050]);
  assert.deepEqual(bidsOf([bidder({ waiting: 1, usage: 2200 }), other]), [2310, 1050]);
});

pure("clearScarce() without PSI lets a container that waits bid its part", () => {
  const blind = { waiting: null, request: 100 };
  // The burst of the second has just begun: it uses what its request gives it, and its part is more.
  const burst = { ...blind, weight: 300, usage: 40, usageNow: 600 };
  const node = (change = {}) => [
    bidder({ ...blind, usage: 1400, usageNow: 700 }),
    bidder({ ...burst, ...change }),
    bidder({ ...blind, usage: 0 }),
  ];
  const { shares } = clearScarce(node(), 1400);
  assert.deepEqual(shares.map(({ waiting }) => waiting), [1, 1, 0]);
  assert.deepEqual(bidsOf(node(), 1400), [1470, 910, 1]);
  // On a node that is not full, or of less than its request gives it, only what it uses counts.
  assert.deepEqual(bidsOf(node(), 1500), [1470, 90, 1]);
  assert.deepEqual(bidsOf(node({ usageNow: 400 }), 1400), [1470, 90, 1]);
});

pure("clearScarce() lets a container below its ceiling bid its need, or its part", () => {
  const lowered = { limit: 700, usage: 700, need: 804 };
  assert.deepEqual(bidsOf([bidder(lowered), bidder()]), [810, 1050]);
  assert.deepEqual(bidsOf([bidder({ ...lowered, saturatedMs: 299 }), bidder()]), [810, 1050]);
  assert.deepEqual(bidsOf([bidder({ ...lowered, saturatedMs: 300 }), bidder()]), [2160, 1050]);
  assert.deepEqual(bidsOf([bidder({ ...lowered, need: 3000, saturatedMs: 300 })]), [4000]);
});

pure("clearScarce() lets a container with a limit that does not bind bid by its usage", () => {
  const rests = { limit: 700, usage: 100, need: 804, saturatedMs: 300 };
  assert.deepEqual(bidsOf([bidder(rests), bidder()]), [110, 1050]);
  assert.deepEqual(bidsOf([bidder({ ...rests, throttled: true }), bidder()]), [2160, 1050]);
});

pure("clearScarce() gives every container its bid while the bids fit", () => {
  const { mode, price, shares } = clearScarce([bidder(), bidder({ usage: 3060 })], 4000);
  assert.deepEqual([mode, price], ["uncongested", 0]);
  assert.deepEqual(shares, [
    { bid: 1050, share: 1050, part: 2160, waiting: 0 },
    { bid: 3220, share: 3220, part: 2160, waiting: 0 },
  ]);
});

pure("clearScarce() divides 1.08 of the capacity by weight", () => {
  const greedy = { usage: 4000, originalLimit: 4000 };
  assert.deepEqual(sharesOf([bidder(greedy), bidder(greedy)], 2000), [1080, 1080]);
  assert.deepEqual(sharesOf([bidder(greedy), bidder({ ...greedy, weight: 300 })], 2000), [
    540,
    1620,
  ]);
  // 2160 of which a light container takes its 210.
  assert.deepEqual(sharesOf([bidder(greedy), bidder({ usage: 200 })], 2000), [1950, 210]);
});

pure("clearScarce() takes back what lies above original limits before all else", () => {
  // 1.08 × 2000 = 2160. The first was given 3000 m beyond what its user set.
  const raised = bidder({ usage: 3000, originalLimit: 500, weight: 900 });
  const own = bidder({ usage: 1500, originalLimit: 2000 });
  // 1575 → 1580 for the second, what is left for the first.
  assert.deepEqual(sharesOf([raised, own], 2000), [580, 1580]);
  // Original limits alone don't fit any more: 500 m for the first, though its part is 1944.
  assert.deepEqual(sharesOf([raised, bidder({ usage: 3000, originalLimit: 3000 })], 2000), [
    500,
    1660,
  ]);
});

pure("clearScarce() owes a container its original limit while the bids within these fit", () => {
  // A service that got less than its limit of 300 m beside a neighbour far above its own of 500 m.
  const service = { usage: 240, originalLimit: 300, waiting: 1, weight: 150 };
  const neighbour = (originalLimit: number) =>
    bidder({ usage: 850, originalLimit, weight: 500, waiting: 1 });
  const partsBeside = (one: ScarceBidder): number[] =>
    clearScarce([bidder(service), bidder(service), one], 1000).shares
      .map(({ part }) => Math.round(part));
  assert.deepEqual(bidsOf([bidder(service), bidder(service), neighbour(400)], 1000), [
    300,
    300,
    900,
  ]);
  assert.deepEqual(sharesOf([bidder(service), bidder(service), neighbour(400)], 1000), [
    300,
    300,
    480,
  ]);
  assert.deepEqual(partsBeside(neighbour(400)), [300, 300, 675]);
  assert.deepEqual(partsBeside(neighbour(500)), [203, 203, 675]);
});

pure("clearScarce() divides what a hundred idle containers leave", () => {
  const idle = Array.from({ length: 100 }, () => bidder({ usage: 0.3, originalLimit: 20 }));
  const busy = [bidder({ usage: 3000 }), bidder({ usage: 3000, weight: 300 })];
  // 1080 − 100 by weight, at most the original limit of 500 m; 2160 − 100 by weight.
  assert.deepEqual(sharesOf([...busy, ...idle], 1000).slice(0, 3), [480, 500, 1]);
  assert.deepEqual(sharesOf([...busy, ...idle], 2000).slice(0, 3), [520, 1540, 1]);
});

pure("clearScarce() gives nothing of nothing", () => {
  assert.deepEqual(clearScarce([], 4000), { mode: "uncongested", price: 0, shares: [] });
  assert.deepEqual(clearScarce([], 0), { mode: "uncongested", price: 0, shares: [] });
  const { price, shares } = clearScarce([bidder(), bidder({ saturatedMs: 500, limit: 500 })], 0);
  assert.equal(price, Infinity);
  assert.deepEqual(shares.map(({ bid, share, part }) => [bid, share, part]), [
    [1050, 0, 0],
    [1000, 0, 0],
  ]);
});

const tens = (min: number, max: number) => fc.integer({ min, max }).map((n) => n * GRID);

const anyBidder: fc.Arbitrary<ScarceBidder> = fc.record({
  floor: tens(1, 20),
  wide: tens(0, 400),
  weight: fc.integer({ min: 1, max: 1000 }),
  limitAt: fc.oneof(fc.constant(1), fc.double({ min: 0, max: 1, noNaN: true })),
  originalLimit: fc.integer({ min: 10, max: 3000 }),
  need: fc.integer({ min: 0, max: 4000 }),
  usage: fc.double({ min: 0, max: 4000, noNaN: true }),
  waiting: fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: undefined }),
  saturatedMs: fc.constantFrom(0, 200, 1000),
  throttled: fc.boolean(),
}).map(({ floor, wide, limitAt, usage, waiting, ...rest }) =>
  bidder({
    ...rest,
    floor,
    ceiling: floor + wide,
    limit: Math.ceil((floor + limitAt * wide) / GRID) * GRID,
    usage,
    ...(waiting === null ? {} : { waiting }),
  })
);

/** Some of them more than once. */
const anyBidders = fc.array(anyBidder, { minLength: 1, maxLength: 10 }).chain((bidders) =>
  fc.array(fc.nat(bidders.length - 1), { maxLength: 3 })
    .map((again) => [...bidders, ...again.flatMap((i) => bidders[i] ?? [])])
);
const anyCapacity = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 1, max: 20_000_000 }).map((n) => n / 1000) },
  { weight: 1, arbitrary: fc.constant(0) },
);

/** What a bidder asks for within the limit that its user set. */
const withinOriginal = (bid: number, { originalLimit }: ScarceBidder): number =>
  Math.min(bid, originalLimit);

pure("clearScarce() divides at most 1.08 of the capacity, and all that fits", () => {
  let rationing = 0;
  fc.assert(fc.property(anyBidders, anyCapacity, (bidders, capacity) => {
    const divided = DIVIDED * capacity;
    const { price, mode, shares } = clearScarce(bidders, capacity);
    assert.ok(price >= 0);
    const bids = exactSum(shares.map(({ bid }) => bid));
    const given = exactSum(shares.map(({ share }) => share));
    assert.ok(given <= divided * (1 + 1e-12));
    for (const { bid, share, part } of shares) {
      assert.ok(share >= 0 && share <= bid && (share % GRID === 0 || bid < GRID));
      assert.ok(part >= 0 && part <= divided + 1e-9);
      if (bids <= divided) assert.equal(share, bid);
    }
    if (bids > divided) {
      rationing++;
      assert.notEqual(mode, "uncongested");
      // A step a bidder may be lost to the grid.
      assert.ok(given > divided - GRID);
    }
  }));
  assert.ok(rationing > 10, `${rationing}`);
});

pure(
  "clearScarce() gives nothing above an original limit while another lacks within its own",
  () => {
    let lacking = 0;
    fc.assert(fc.property(anyBidders, anyCapacity, (bidders, capacity) => {
      const { shares } = clearScarce(bidders, capacity);
      const lacks = bidders.some((one, i) => {
        const { bid = 0, share = 0 } = shares[i] ?? {};
        return share < Math.floor(withinOriginal(bid, one) / GRID) * GRID;
      });
      if (!lacks) return;
      lacking++;
      for (const [i, one] of bidders.entries()) {
        const { bid = 0, share = 0 } = shares[i] ?? {};
        assert.ok(share < withinOriginal(bid, one) + GRID, `${share} of ${bid}`);
      }
    }));
    assert.ok(lacking > 10, `${lacking}`);
  },
);

forAll("clearScarce() gives equal containers the same within a step", [
  anyBidders,
  anyBidder,
  anyCapacity,
], (others, one, capacity) => {
  const { shares } = clearScarce([one, ...others, one], capacity);
  const [first, last] = [shares[0], shares.at(-1)];
  assert.ok(first !== undefined && last !== undefined);
  assert.equal(first.bid, last.bid);
  assert.ok(Math.abs(first.share - last.share) <= GRID);
}, 1);

forAll("clearScarce() gives the same within a step in any order", [
  anyBidders.chain((bidders) =>
    fc.shuffledSubarray([...bidders.keys()], {
      minLength: bidders.length,
      maxLength: bidders.length,
    }).map((order) => ({ bidders, order }))
  ),
  anyCapacity,
], ({ bidders, order }, capacity) => {
  const plain = clearScarce(bidders, capacity);
  const shuffled = clearScarce(order.flatMap((i) => bidders[i] ?? []), capacity);
  assert.equal(shuffled.mode, plain.mode);
  for (const [at, i] of order.entries()) {
    const [a, b] = [shuffled.shares[at]?.share ?? NaN, plain.shares[i]?.share ?? NaN];
    assert.ok(Math.abs(a - b) <= GRID, `${a}, ${b}`);
  }
}, 1);

pure("clearScarce() is within a step of the optimum of its bids", () => {
  const modes = new Set<string>();
  fc.assert(
    fc.property(anyBidders, anyCapacity, (bidders, capacity) => {
      const divided = DIVIDED * capacity;
      const { price, mode, shares } = clearScarce(bidders, capacity);
      const within = bidders.map((one, i) => withinOriginal(shares[i]?.bid ?? 0, one));
      const fits = within.reduce((sum, amount) => sum + amount, 0) <= divided;
      modes.add(`${mode}, ${fits}`);
      const bids = bidders.map(({ weight }, i) => {
        const [bid = 0, least = 0] = [shares[i]?.bid, within[i]];
        return fits
          ? { weight, floor: least, ceiling: bid, demand: bid }
          : { weight, floor: 0, ceiling: least, demand: least };
      });
      const clearing = clearMarket(bids, divided);
      assert.ok(residual(bids, { capacity: divided, clearing }) < 1e-9);
      assert.deepEqual([clearing.price, clearing.mode], [price, mode]);
      for (const [i, { share }] of shares.entries()) {
        assert.ok(Math.abs(share - (clearing.shares[i] ?? NaN)) < GRID);
      }
    }),
    { numRuns: 500 },
  );
  for (const one of ["uncongested, true", "congested, true", "congested, false"]) {
    assert.ok(modes.has(one), one);
  }
});

const weighed = ([usage = 0, request = 0]: readonly number[]): WeighedUsage => ({ usage, request });
const waits = (...pairs: readonly (readonly number[])[]): boolean[] =>
  waitByWeight(pairs.map(weighed));

pure(
  "waitByWeight() leaves out containers that use clearly less than their weights give them",
  () => {
    assert.deepEqual(waits([100, 100], [900, 100], [1000, 100]), [false, true, true]);
    // A burst that has only begun to be seen uses nearly what its request gives it, a sixth.
    assert.deepEqual(waits([1400, 500], [231, 100]), [true, false]);
    assert.deepEqual(waits([1400, 500], [232, 100]), [true, true]);
    // Idle containers have most of the requests, and leave their CPU to the others.
    assert.deepEqual(waits([1, 1000], [1, 1000], [1500, 500], [300, 100]), [
      false,
      false,
      true,
      true,
    ]);
  },
);

pure("waitByWeight() counts nothing for a container with a request that is not known", () => {
  assert.deepEqual(waits([500, 0], [900, 100]), [false, true]);
  assert.deepEqual(waits([500, 0]), [false]);
  assert.deepEqual(waits(), []);
});

const any = fc.record({ usage: fc.nat(4000), request: fc.nat(2000) });

forAll("waitByWeight() finds the containers that use most for their weights", [
  fc.array(any, { minLength: 1, maxLength: 20 }),
], (containers) => {
  const waiting = waitByWeight(containers);
  const known = containers.filter(({ request }) => request > 0);
  assert.equal(waiting.some(Boolean), known.length > 0);
  const ratio = ({ usage, request }: WeighedUsage): number => usage / request;
  const least = Math.min(...containers.filter((_, i) => waiting[i]).map(ratio));
  containers.forEach((one, i) => {
    if (waiting[i] === false && one.request > 0) assert.ok(ratio(one) < least);
  });
}, 1);

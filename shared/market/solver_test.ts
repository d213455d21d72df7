import fc from "fast-check";
import assert from "node:assert/strict";
import { forAll } from "../../tests/fixtures/for_all.ts";
import {
  anyBid,
  anyMarket,
  boundsOf,
  CLOSE,
  OF_TOTAL,
  totalOf,
} from "../../tests/fixtures/market/bids_arbitrary.ts";
import { exactSum, residual } from "../../tests/fixtures/market/clearing_residual.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { type Bid, clearMarket, type Mode } from "./solver.ts";

const bid = (weight: number, floor: number, ceiling: number, demand: number): Bid => ({
  ...{ weight, floor, ceiling, demand },
});

function check(bids: readonly Bid[], capacity: number, expected: [Mode, number, number[]]): void {
  const { mode, price, shares } = clearMarket(bids, capacity);
  assert.deepEqual([mode, price, [...shares]], expected, JSON.stringify([bids, capacity]));
}

pure("clearMarket() gives the worked values of each mode", () => {
  const three = [bid(1, 10, 100, 50), bid(9, 10, 100, 5), bid(2, 10, 100, 500)];
  check(three, 160, ["uncongested", 0, [50, 10, 100]]);
  const two = [bid(100, 0, 4000, 900), bid(300, 0, 4000, 2000)];
  check(two, 1000, ["congested", 0.4, [250, 750]]);
  // 200 m are the first one's floor, 50 m the second one's need; 250 m are left for weights 1 and 4,
  // so 1 / price is 50, at which the first would get 50 m and the second 100 m.
  const bound = [bid(1, 200, 900, 900), bid(2, 0, 900, 50)];
  const free = [bid(1, 0, 900, 900), bid(4, 0, 900, 900)];
  check([...bound, ...free], 500, ["congested", 1 / 50, [200, 50, 50, 200]]);
  const floors = [bid(1, 100, 400, 400), bid(3, 100, 400, 0), bid(1, 0, 400, 400)];
  check(floors, 120, ["overloaded", 1 / 30, [30, 90, 0]]);
});

pure("clearMarket() clears without capacity, and without bids", () => {
  const needy = [bid(1, 10, 20, 15), bid(1, 0, 0, 3)];
  for (const capacity of [0, -5]) check(needy, capacity, ["overloaded", Infinity, [0, 0]]);
  check([bid(1, 0, 20, 15)], 0, ["congested", Infinity, [0]]);
  check([bid(1, 0, 20, 15)], -1, ["overloaded", Infinity, [0]]);
  check([bid(1, 0, 20, 0)], 0, ["uncongested", 0, [0]]);
  check([bid(1, 0, 20, 0)], -1, ["overloaded", 0, [0]]);
  for (const capacity of [-1, 0, 1000]) check([], capacity, ["uncongested", 0, []]);
});

pure("clearMarket() asks the smallest price when every bidder is at a bound", () => {
  // Any price from 1/20 to 1/10 gives the same shares.
  check([bid(1, 0, 10, 10), bid(1, 20, 30, 30)], 30, ["congested", 1 / 20, [10, 20]]);
  // Bounds that binary numbers do not hold exactly are the same case.
  const thirds = clearMarket([bid(3, 0, 0.1, 0.1), bid(0.7, 0.2, 30, 30)], 0.3);
  assert.ok(Math.abs(thirds.price / (0.7 / 0.2) - 1) <= CLOSE);
});

pure("clearMarket() names index, field and value of a bid that breaks its rule", () => {
  const good = bid(1, 10, 20, 15);
  const broken: Readonly<Record<keyof Bid, readonly number[]>> = {
    weight: [0, NaN, Infinity],
    floor: [-1, NaN, Infinity],
    ceiling: [9, NaN, Infinity],
    demand: [-2, NaN, Infinity],
  };
  for (const [field, values] of Object.entries(broken)) {
    for (const value of values) {
      const message = new RegExp(`bid 1: .*${field} is ${value}`);
      const error = { name: "RangeError", message };
      assert.throws(() => clearMarket([good, { ...good, [field]: value }], 30), error);
    }
  }
  for (const capacity of [NaN, Infinity, -Infinity]) {
    assert.throws(() => clearMarket([good], capacity), new RegExp(`capacity is ${capacity}`));
  }
});

forAll("clearMarket() finds the optimum, within the bounds of the mode", [anyMarket], (market) => {
  const { bids, capacity } = market;
  const before = structuredClone(bids);
  const clearing = clearMarket(bids, capacity);
  const total = totalOf(market);
  for (const [index, each] of bids.entries()) {
    const { lower, upper } = boundsOf(each, clearing);
    const share = clearing.shares[index] as number;
    assert.ok(lower <= share && share <= upper, `${lower} <= ${share} <= ${upper}`);
  }
  assert.ok(Math.abs(exactSum(clearing.shares) - total) <= OF_TOTAL * total);
  assert.ok(residual(bids, { capacity, clearing }) <= OF_TOTAL);
  assert.deepEqual(bids, before);
});

forAll("clearMarket() gives equal bids equal shares", [
  anyMarket,
  anyBid,
  fc.nat(12),
], ({ bids, capacity }, twin, position) => {
  const market = [...bids.slice(0, position), twin, ...bids.slice(position), { ...twin }];
  const { shares } = clearMarket(market, capacity);
  assert.equal(shares[Math.min(position, bids.length)], shares[market.length - 1]);
});

forAll("clearMarket() scales, and lowers no share when capacity grows", [
  anyMarket,
  fc.integer({ min: -12, max: 12 }).map((exponent) => 2 ** exponent),
], ({ bids, capacity }, factor) => {
  const { mode, price, shares } = clearMarket(bids, capacity);
  const heavier = bids.map((one) => ({ ...one, weight: one.weight * factor }));
  const scaled = { mode, price: price * factor, shares };
  assert.deepEqual(clearMarket(heavier, capacity), scaled);
  const larger = bids.map(({ weight, floor, ceiling, demand }) =>
    bid(weight, floor * factor, ceiling * factor, demand * factor)
  );
  assert.deepEqual(clearMarket(larger, capacity * factor), {
    ...{ mode, price: price / factor, shares: shares.map((share) => share * factor) },
  });
  const more = capacity > 0 ? capacity * (1 + factor) : factor;
  const total = totalOf({ bids, capacity: more });
  clearMarket(bids, more).shares.forEach((share, i) =>
    assert.ok(share >= (shares[i] as number) - OF_TOTAL * total)
  );
});

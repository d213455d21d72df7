import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import {
  anyMarket,
  boundsOf,
  CLOSE,
  type Market,
  needOf,
  OF_TOTAL,
  totalOf,
} from "../../tests/fixtures/market/bids_arbitrary.ts";
import { cases } from "../../tests/fixtures/cases.ts";
import { exactSum, residual } from "../../tests/fixtures/market/clearing_residual.ts";
import { seededRandom } from "../random.ts";
import { type Bid, clearMarket } from "./solver.ts";

const bid = (weight: number, floor: number, ceiling: number, demand: number): Bid => ({
  weight,
  floor,
  ceiling,
  demand,
});

pure("clearMarket() gives everybody the need for nothing when all needs fit", () => {
  const bids = [bid(1, 10, 100, 50), bid(9, 10, 100, 5), bid(2, 10, 100, 500)];
  assert.deepEqual(clearMarket(bids, 160), {
    mode: "uncongested",
    price: 0,
    shares: Float64Array.of(50, 10, 100),
  });
});

pure("clearMarket() divides by weight between floor and need when the needs do not fit", () => {
  const bids = [bid(100, 0, 4000, 900), bid(300, 0, 4000, 2000)];
  const { mode, price, shares } = clearMarket(bids, 1000);
  assert.equal(mode, "congested");
  assert.equal(price, 0.4);
  assert.deepEqual([...shares], [250, 750]);
});

pure("clearMarket() holds a bidder at its floor and one at its need, worked by hand", () => {
  // 500 m: 200 m is the first one's floor, 50 m the second one's need; 250 m are left for weights
  // 1 and 4, so 1 / price is 50, at which the first would get 50 m and the second 100 m.
  const bids = [
    bid(1, 200, 900, 900),
    bid(2, 0, 900, 50),
    bid(1, 0, 900, 900),
    bid(4, 0, 900, 900),
  ];
  const { price, shares } = clearMarket(bids, 500);
  assert.deepEqual([...shares], [200, 50, 50, 200]);
  assert.equal(price, 1 / 50);
});

pure("clearMarket() divides by weight below the floors when these do not fit", () => {
  const bids = [bid(1, 100, 400, 400), bid(3, 100, 400, 0), bid(1, 0, 400, 400)];
  const { mode, price, shares } = clearMarket(bids, 120);
  assert.equal(mode, "overloaded");
  assert.deepEqual([...shares], [30, 90, 0]);
  assert.equal(price, 1 / 30);
});

pure("clearMarket() asks an infinite price when there is nothing and someone needs it", () => {
  for (const capacity of [0, -5]) {
    const { price, shares } = clearMarket([bid(1, 10, 20, 15), bid(1, 0, 0, 3)], capacity);
    assert.equal(price, Infinity);
    assert.deepEqual([...shares], [0, 0]);
  }
  assert.equal(clearMarket([bid(1, 0, 20, 15)], 0).price, Infinity);
  assert.equal(clearMarket([bid(1, 0, 20, 15)], -1).price, Infinity);
});

pure("clearMarket() has the price 0 without capacity and without needs", () => {
  assert.equal(clearMarket([bid(1, 0, 20, 0)], 0).price, 0);
  assert.equal(clearMarket([bid(1, 0, 20, 0)], -1).price, 0);
});

pure("clearMarket() asks the smallest price when every bidder is at a bound", () => {
  // Any price from 1/20 to 1/10 gives the same shares.
  const { price, shares } = clearMarket([bid(1, 0, 10, 10), bid(1, 20, 30, 30)], 30);
  assert.deepEqual([...shares], [10, 20]);
  assert.equal(price, 1 / 20);
  // Bounds that binary numbers do not hold exactly are the same case.
  const thirds = clearMarket([bid(3, 0, 0.1, 0.1), bid(0.7, 0.2, 30, 30)], 0.3);
  assert.ok(Math.abs(thirds.price / (0.7 / 0.2) - 1) <= CLOSE);
});

pure("clearMarket() clears a market without bids, whatever its capacity", () => {
  for (const capacity of [-1, 0, 1000]) {
    const empty = { mode: "uncongested", price: 0, shares: new Float64Array() };
    assert.deepEqual(clearMarket([], capacity), empty);
  }
});

pure("clearMarket() does not touch an earlier clearing, nor the bids", () => {
  const bids = [bid(1, 0, 9, 9), bid(1, 0, 9, 9)];
  const first = clearMarket(bids, 10);
  clearMarket([bid(5, 1, 8, 8), bid(1, 1, 2, 2), bid(1, 1, 2, 2)], 7);
  assert.deepEqual([...first.shares], [5, 5]);
  assert.deepEqual(bids, [bid(1, 0, 9, 9), bid(1, 0, 9, 9)]);
});

pure("clearMarket() names index, field and value of a bid that breaks its rule", () => {
  const good = bid(1, 10, 20, 15);
  const broken: readonly [Partial<Bid>, RegExp][] = [
    [{ weight: 0 }, /bid 1: weight is 0/],
    [{ weight: NaN }, /bid 1: weight is NaN/],
    [{ weight: Infinity }, /bid 1: weight is Infinity/],
    [{ floor: -1 }, /bid 1: floor is -1/],
    [{ floor: NaN }, /bid 1: floor is NaN/],
    [{ ceiling: 9 }, /bid 1: ceiling is 9, .* floor 10/],
    [{ ceiling: NaN }, /bid 1: ceiling is NaN/],
    [{ ceiling: Infinity }, /bid 1: ceiling is Infinity/],
    [{ demand: -2 }, /bid 1: demand is -2/],
    [{ demand: NaN }, /bid 1: demand is NaN/],
    [{ demand: Infinity }, /bid 1: demand is Infinity/],
  ];
  for (const [fields, message] of broken) {
    assert.throws(() => clearMarket([good, { ...good, ...fields }], 30), {
      name: "RangeError",
      message,
    });
  }
  for (const capacity of [NaN, Infinity, -Infinity]) {
    assert.throws(() => clearMarket([good], capacity), {
      name: "RangeError",
      message: new RegExp(`capacity is ${capacity}`),
    });
  }
});

pure("clearMarket() keeps every share exactly within the bounds of the mode", () => {
  fc.assert(
    fc.property(anyMarket, ({ bids, capacity }) => {
      const clearing = clearMarket(bids, capacity);
      for (const [index, each] of bids.entries()) {
        const { lower, upper } = boundsOf(each, clearing);
        const share = clearing.shares[index] as number;
        assert.ok(lower <= share && share <= upper, `${lower} <= ${share} <= ${upper}`);
      }
    }),
    cases(5),
  );
});

pure("clearMarket() gives out the capacity or all needs, whichever is less", () => {
  fc.assert(
    fc.property(anyMarket, (market) => {
      const { shares } = clearMarket(market.bids, market.capacity);
      const total = totalOf(market);
      assert.ok(Math.abs(exactSum(shares) - total) <= OF_TOTAL * total);
    }),
    cases(5),
  );
});

pure("clearMarket() meets the conditions of the optimum", () => {
  fc.assert(
    fc.property(anyMarket, ({ bids, capacity }) => {
      const clearing = clearMarket(bids, capacity);
      assert.ok(residual(bids, { capacity, clearing }) <= OF_TOTAL);
    }),
    cases(5),
  );
});

pure("clearMarket() agrees with a search through the sorted breakpoints", () => {
  fc.assert(
    fc.property(anyMarket, (market) => {
      const clearing = clearMarket(market.bids, market.capacity);
      const expected = bySorting(market);
      assert.equal(clearing.mode, expected.mode);
      const tolerance = OF_TOTAL * totalOf(market);
      for (const [index, share] of expected.shares.entries()) {
        assert.ok(Math.abs((clearing.shares[index] as number) - share) <= tolerance);
      }
    }),
    cases(5),
  );
});

/** The same clearing in the slow and plain way: the sum of shares at every breakpoint of 1/price. */
function bySorting({ bids, capacity }: Market): { mode: string; shares: number[] } {
  const needs = bids.map(needOf);
  const floors = bids.map((each) => each.floor);
  const reach = capacity > 0 ? capacity * (1 + 1e-12) : capacity;
  if (exactSum(needs) <= reach) return { mode: "uncongested", shares: needs };
  const overloaded = exactSum(floors) > reach;
  const lower = overloaded ? floors.map(() => 0) : floors;
  const upper = overloaded ? floors : needs;
  const at = (y: number): number[] =>
    bids.map(({ weight }, i) =>
      Math.min(Math.max(weight * y, lower[i] as number), upper[i] as number)
    );
  const total = Math.max(0, capacity);
  const points = bids.flatMap(({ weight }, i) => [
    (lower[i] as number) / weight,
    (upper[i] as number) / weight,
  ]).sort((a, b) => a - b);
  const before = Math.max(0, ...points.filter((y) => exactSum(at(y)) <= total));
  const after = Math.min(...points.filter((y) => y > before));
  const [left, right] = [at(before), at(after)];
  const [least, most] = [exactSum(left), exactSum(right)];
  const part = most > least ? Math.max(0, (total - least) / (most - least)) : 0;
  return {
    mode: overloaded ? "overloaded" : "congested",
    shares: left.map((x, i) => x + part * ((right[i] as number) - x)),
  };
}

pure("clearMarket() asks as price what one more millicore would add to the optimum", () => {
  fc.assert(
    fc.property(anyMarket, fc.double({ min: 1e-3, max: 0.1, noNaN: true }), (market, step) => {
      const { bids, capacity } = market;
      const clearing = clearMarket(bids, capacity);
      const more = capacity * (1 + step);
      const then = clearMarket(bids, more);
      const free = bids.some((each, index) => {
        const { lower, upper } = boundsOf(each, clearing);
        const share = clearing.shares[index] as number;
        return lower < share && share < upper;
      });
      fc.pre(free && then.mode === clearing.mode);
      // The optimum is concave in the capacity, so its rise over a finite step lies between the
      // prices at both ends, times the step.
      const gains = bids.map(({ weight }, index) => {
        const share = clearing.shares[index] as number;
        return share > 0
          ? weight * Math.log1p(((then.shares[index] as number) - share) / share)
          : 0;
      });
      const gain = exactSum(gains);
      const given = more - capacity;
      assert.ok(gain <= clearing.price * given * (1 + 1e-9), `${gain} above the price`);
      assert.ok(gain >= then.price * given * (1 - 1e-9), `${gain} below the price after`);
    }),
    cases(5),
  );
});

pure("clearMarket() asks the smallest price at which no bidder wants more than the share", () => {
  fc.assert(
    fc.property(anyMarket, ({ bids, capacity }) => {
      const clearing = clearMarket(bids, capacity);
      const wantsMore = (each: Bid, index: number, price: number): boolean => {
        const share = clearing.shares[index] as number;
        return share < boundsOf(each, clearing).upper && each.weight / price > share;
      };
      // One that lacks less than the slack of the sums counts as satisfied.
      const lacking = bids.map((each, index) =>
        (clearing.shares[index] as number) < boundsOf(each, clearing).upper * (1 - 1e-12)
      );
      const dearer = clearing.price * (1 + CLOSE);
      assert.ok(!bids.some((each, index) => lacking[index] && wantsMore(each, index, dearer)));
      if (clearing.price === 0 || clearing.price === Infinity) return;
      const cheaper = clearing.price * (1 - CLOSE);
      assert.ok(bids.some((each, index) => wantsMore(each, index, cheaper)));
    }),
    cases(5),
  );
});

pure("clearMarket() clears one bid and ten thousand of all sizes", () => {
  const random = seededRandom(7);
  const amount = (): number => 10 ** (15 * random.next() - 6);
  for (const count of [1, 10_000]) {
    const bids = Array.from({ length: count }, () => {
      const [floor, ceiling] = [amount(), amount()].sort((a, b) => a - b) as [number, number];
      return bid(amount(), floor, ceiling, amount());
    });
    const floors = exactSum(bids.map((each) => each.floor));
    const needs = exactSum(bids.map(needOf));
    for (const capacity of [0, floors / 3, floors, (floors + needs) / 2, needs, needs * 2]) {
      const clearing = clearMarket(bids, capacity);
      assert.ok(residual(bids, { capacity, clearing }) <= OF_TOTAL);
    }
  }
});

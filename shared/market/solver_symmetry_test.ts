import assert from "node:assert/strict";
import fc from "fast-check";
import {
  anyBid,
  anyMarket,
  logUniform,
  OF_TOTAL,
  totalOf,
} from "../../tests/fixtures/market/bids_arbitrary.ts";
import { cases } from "../../tests/fixtures/cases.ts";
import { type Bid, clearMarket } from "./solver.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

/** Asserts that two lists of shares differ by rounding only, measured by what is shared out. */
function assertSame(actual: ArrayLike<number>, expected: ArrayLike<number>, total: number): void {
  assert.equal(actual.length, expected.length);
  for (let i = 0; i < expected.length; i++) {
    const [a, b] = [actual[i] as number, expected[i] as number];
    assert.ok(Math.abs(a - b) <= OF_TOTAL * total, `share ${i}: ${a}, expected ${b} of ${total}`);
  }
}

/** Binary fractions scale without rounding; the others are any number. */
const powerOfTwo = fc.integer({ min: -12, max: 12 }).map((exponent) => 2 ** exponent);
const anyFactor = logUniform(-3, 3);

const withWeights = (bids: readonly Bid[], factor: number): Bid[] =>
  bids.map((bid) => ({ ...bid, weight: bid.weight * factor }));

const withAmounts = (bids: readonly Bid[], factor: number): Bid[] =>
  bids.map(({ weight, floor, ceiling, demand }) => ({
    weight,
    floor: floor * factor,
    ceiling: ceiling * factor,
    demand: demand * factor,
  }));

pure("clearMarket() permutes the shares when the bids are permuted", () => {
  const permuted = anyMarket.chain((market) => {
    const indices = [...market.bids.keys()];
    return fc.shuffledSubarray(indices, { minLength: indices.length })
      .map((order) => ({ market, order }));
  });
  fc.assert(
    fc.property(permuted, ({ market, order }) => {
      const { bids, capacity } = market;
      const plain = clearMarket(bids, capacity);
      const shuffled = clearMarket(order.map((index) => bids[index] as Bid), capacity);
      assert.equal(shuffled.mode, plain.mode);
      assertSame(
        shuffled.shares,
        order.map((index) => plain.shares[index] as number),
        totalOf(market),
      );
    }),
    cases(5),
  );
});

pure("clearMarket() gives equal bids exactly equal shares", () => {
  fc.assert(
    fc.property(anyMarket, anyBid, fc.nat(12), ({ bids, capacity }, twin, position) => {
      const market = [...bids.slice(0, position), twin, ...bids.slice(position), { ...twin }];
      const { shares } = clearMarket(market, capacity);
      assert.equal(shares[Math.min(position, bids.length)], shares[market.length - 1]);
    }),
    cases(5),
  );
});

pure("clearMarket() changes no share when all weights are scaled", () => {
  fc.assert(
    fc.property(anyMarket, powerOfTwo, anyFactor, (market, exact, factor) => {
      const { bids, capacity } = market;
      const plain = clearMarket(bids, capacity);
      const scaled = clearMarket(withWeights(bids, exact), capacity);
      assert.deepEqual(scaled, { ...plain, price: plain.price * exact });
      assertSame(
        clearMarket(withWeights(bids, factor), capacity).shares,
        plain.shares,
        totalOf(market),
      );
    }),
    cases(5),
  );
});

pure("clearMarket() scales the shares with capacity, floors, ceilings and demands", () => {
  fc.assert(
    fc.property(anyMarket, powerOfTwo, anyFactor, (market, exact, factor) => {
      const { bids, capacity } = market;
      const plain = clearMarket(bids, capacity);
      const scaled = clearMarket(withAmounts(bids, exact), capacity * exact);
      assert.deepEqual(scaled, {
        mode: plain.mode,
        price: plain.price / exact,
        shares: plain.shares.map((share) => share * exact),
      });
      assertSame(
        clearMarket(withAmounts(bids, factor), capacity * factor).shares,
        plain.shares.map((share) => share * factor),
        totalOf(market) * factor,
      );
    }),
    cases(5),
  );
});

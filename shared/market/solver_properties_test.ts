import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import {
  anyBid,
  anyMarket,
  CLOSE,
  congestedWithoutFloors,
  logUniform,
  type Market,
  needOf,
  OF_TOTAL,
  totalOf,
} from "../../tests/fixtures/market/bids_arbitrary.ts";
import { cases } from "../../tests/fixtures/cases.ts";
import { exactSum } from "../../tests/fixtures/market/clearing_residual.ts";
import { type Bid, clearMarket } from "./solver.ts";

const clear = ({ bids, capacity }: Market): Float64Array => clearMarket(bids, capacity).shares;

/** The market with some fields of one bid replaced; the index counts round. */
function withBid({ bids, capacity }: Market, index: number, fields: Partial<Bid>): Market {
  return {
    capacity,
    bids: bids.map((bid, i) => i === index % bids.length ? { ...bid, ...fields } : bid),
  };
}

/** Asserts that `more` is not below `less`, but for what rounding makes of the whole. */
function assertNotBelow(more: number, less: number, markets: readonly Market[]): void {
  const total = Math.max(...markets.map(totalOf));
  assert.ok(more >= less - OF_TOTAL * total, `${more} is below ${less}, total ${total}`);
}

pure("clearMarket() lowers no share when the capacity grows, across modes too", () => {
  fc.assert(
    fc.property(anyMarket, logUniform(-3, 2), (market, growth) => {
      const base = market.capacity > 0 ? market.capacity : totalOf({ ...market, capacity: 1e9 });
      const larger = { bids: market.bids, capacity: market.capacity + base * growth };
      const [before, after] = [clear(market), clear(larger)];
      before.forEach((share, i) => assertNotBelow(after[i] as number, share, [market, larger]));
    }),
    cases(5),
  );
});

pure("clearMarket() lowers no own share and raises no other for more weight", () => {
  fc.assert(
    fc.property(anyMarket, fc.nat(15), logUniform(-3, 3), (market, index, factor) => {
      const own = index % market.bids.length;
      const weight = (market.bids[own] as Bid).weight * (1 + factor);
      const heavier = withBid(market, own, { weight });
      const [before, after] = [clear(market), clear(heavier)];
      before.forEach((share, i) => {
        const now = after[i] as number;
        if (i === own) assertNotBelow(now, share, [market]);
        else assertNotBelow(share, now, [market]);
      });
    }),
    cases(5),
  );
});

pure("clearMarket() lowers no share when a bidder leaves", () => {
  fc.assert(
    fc.property(anyMarket, fc.nat(15), (market, index) => {
      const gone = index % market.bids.length;
      const rest = { ...market, bids: market.bids.filter((_, i) => i !== gone) };
      const before = clear(market).filter((_, i) => i !== gone);
      const after = clear(rest);
      before.forEach((share, i) => assertNotBelow(after[i] as number, share, [market]));
    }),
    cases(5),
  );
});

pure("clearMarket() leaves no envy by weight where no floor binds", () => {
  fc.assert(
    fc.property(congestedWithoutFloors, ({ bids, capacity }) => {
      const { shares } = clearMarket(bids, capacity);
      for (const [i, mine] of bids.entries()) {
        const useful = Math.max(
          ...bids.map((other, j) =>
            Math.min((shares[j] as number) * mine.weight / other.weight, needOf(mine))
          ),
        );
        // Each share comes from the same price, so this holds to the last digits of the share.
        assert.ok((shares[i] as number) >= useful * (1 - CLOSE));
      }
    }),
    cases(5),
  );
});

pure("clearMarket() gives at least the part by weight of what the floors leave", () => {
  fc.assert(
    fc.property(anyMarket, (market) => {
      const { bids, capacity } = market;
      const { mode, shares } = clearMarket(bids, capacity);
      fc.pre(mode === "congested");
      const atFloor = bids.filter((bid, i) => shares[i] === bid.floor);
      const others = bids.filter((bid, i) => shares[i] !== bid.floor);
      const left = Math.max(0, capacity - exactSum(atFloor.map((bid) => bid.floor)));
      if (others.length === 0) return;
      const weights = exactSum(others.map((bid) => bid.weight));
      for (const [i, bid] of bids.entries()) {
        const part = left * (bid.weight / weights);
        const least = Math.max(bid.floor, Math.min(needOf(bid), part));
        // What `left` has lost to rounding counts as often as the bid's weight counts in `part`.
        const rounding = OF_TOTAL * capacity * Math.max(1, bid.weight / weights);
        assert.ok((shares[i] as number) >= least - rounding);
      }
    }),
    cases(5),
  );
});

pure("clearMarket() rewards no lie about the demand", () => {
  fc.assert(
    fc.property(
      anyMarket,
      fc.nat(15),
      fc.oneof(logUniform(-6, 9), fc.constant(0)),
      (market, index, demand) => {
        const own = index % market.bids.length;
        const need = needOf(market.bids[own] as Bid);
        const liar = withBid(market, own, { demand });
        const honest = clear(market)[own] as number;
        const lied = clear(liar)[own] as number;
        assertNotBelow(Math.min(honest, need), Math.min(lied, need), [market, liar]);
      },
    ),
    cases(5),
  );
});

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

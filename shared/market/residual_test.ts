import assert from "node:assert/strict";
import fc from "fast-check";
import { cases } from "../../tests/fixtures/cases.ts";
import { clearMarket } from "./solver.ts";
import { exactSum, residual } from "./residual.ts";
import { anyMarket, totalOf } from "../../tests/fixtures/bids_arbitrary.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const bids = [
  { weight: 1, floor: 0, ceiling: 900, demand: 900 },
  { weight: 4, floor: 0, ceiling: 900, demand: 900 },
] as const;
const optimum = { mode: "congested", price: 1 / 200, shares: Float64Array.of(200, 800) } as const;

pure("residual() is zero at an optimum worked by hand", () => {
  assert.equal(residual(bids, { capacity: 1000, clearing: optimum }), 0);
});

pure("residual() measures what is missing from the sum", () => {
  const clearing = { ...optimum, price: 1 / 190, shares: Float64Array.of(190, 760) };
  const value = residual(bids, { capacity: 1000, clearing });
  assert.ok(Math.abs(value - 0.05) < 1e-12);
});

pure("residual() measures an interior share that does not follow the price", () => {
  const clearing = { ...optimum, shares: Float64Array.of(220, 780) };
  const value = residual(bids, { capacity: 1000, clearing });
  assert.ok(Math.abs(value - 0.1) < 1e-12);
});

pure("residual() measures a share that rests on the wrong bound", () => {
  const clearing = { ...optimum, shares: Float64Array.of(100, 900) };
  const at = residual([{ ...bids[0], demand: 100 }, bids[1]], { capacity: 1000, clearing });
  assert.ok(Math.abs(at - 0.1) < 1e-12);
});

pure("residual() is NaN for a clearing with a NaN, so that no limit lets it pass", () => {
  const clearing = { ...optimum, shares: Float64Array.of(NaN, 800) };
  assert.ok(Number.isNaN(residual(bids, { capacity: 1000, clearing })));
});

pure("residual() refuses a clearing of another number of bids", () => {
  assert.throws(() => residual(bids.slice(1), { capacity: 1000, clearing: optimum }), {
    name: "RangeError",
    message: /2 shares for 1 bids/,
  });
});

pure("residual() notices any share that is moved by a thousandth of the total", () => {
  fc.assert(
    fc.property(anyMarket, fc.nat(15), fc.boolean(), (market, index, up) => {
      const { bids, capacity } = market;
      const clearing = clearMarket(bids, capacity);
      const total = totalOf(market);
      fc.pre(total > 0);
      const at = index % bids.length;
      clearing.shares[at] = (clearing.shares[at] as number) + (up ? 1e-3 : -1e-3) * total;
      assert.ok(residual(bids, { capacity, clearing }) >= 0.9e-3);
    }),
    cases(5),
  );
});

pure("exactSum() keeps what a large number would swallow", () => {
  assert.equal(exactSum([1, 1e100, 1, -1e100]), 2);
  assert.equal(exactSum([]), 0);
});

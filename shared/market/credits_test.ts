import assert from "node:assert/strict";
import fc from "fast-check";
import { forAll } from "../../tests/fixtures/for_all.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { CREDIT_BOUNDS, CREDIT_HALF_LIFE_MS, creditAfter, type CreditStep } from "./credits.ts";

const amount = fc.oneof(fc.double({ min: 1, max: 1e4, noNaN: true }), fc.constant(0));
const credit = fc.double({ min: CREDIT_BOUNDS.least, max: CREDIT_BOUNDS.most, noNaN: true });
const step: fc.Arbitrary<CreditStep> = fc.record({
  ...{ share: amount, need: amount, entitlement: amount },
  intervalMs: fc.double({ min: 0, max: 3e6, noNaN: true }),
});
/** Powers and logarithms of numbers near 1 are good to a few units of the last place. */
const ROUNDING = 1e-14;
const near = (a: number, b: number): boolean => Math.abs(a - b) <= ROUNDING;

pure("creditAfter() gives the worked values of one half-life", () => {
  const rows = [
    [1, { need: 0, share: 0 }, Math.SQRT2],
    [1, { need: 500, share: 500 }, 2 ** 0.25],
    [1, { need: 1500, share: 1500 }, 2 ** -0.25],
    [1, { need: 1500, share: 1000 }, 1],
    [2, { need: 1500, share: 1000 }, Math.SQRT2],
    [0.5, { need: 1000, share: 1000 }, Math.SQRT1_2],
  ] as const;
  for (const [from, taken, after] of rows) {
    const interval = { entitlement: 1000, intervalMs: CREDIT_HALF_LIFE_MS };
    assert.ok(near(creditAfter(from, { ...taken, ...interval }), after), `${after}`);
  }
});

forAll(
  "creditAfter() stays within its bounds, and neutral for one that neither leaves nor takes",
  [fc.double({ min: 0, max: 1e9, noNaN: true }), step, amount],
  (from, taken, more) => {
    const after = creditAfter(from, taken);
    assert.ok(after >= CREDIT_BOUNDS.least && after <= CREDIT_BOUNDS.most);
    const { share, entitlement } = taken;
    const neither = { share: Math.min(share, entitlement), need: entitlement + more };
    assert.equal(creditAfter(1, { ...taken, ...neither }), 1);
  },
);

forAll(
  "creditAfter() never rises with more need or share, nor falls with credit or entitlement",
  [credit, step, amount, credit],
  (from, taken, more, other) => {
    const after = creditAfter(from, taken);
    assert.ok(creditAfter(from, { ...taken, need: taken.need + more }) <= after + ROUNDING);
    assert.ok(creditAfter(from, { ...taken, share: taken.share + more }) <= after + ROUNDING);
    const entitled = creditAfter(from, { ...taken, entitlement: taken.entitlement + more });
    assert.ok(entitled >= after - ROUNDING);
    assert.ok(creditAfter(Math.max(from, other), taken) >= after - ROUNDING);
  },
);

forAll(
  "creditAfter() gives the same for an interval and for its two parts, at any scale of CPU",
  [credit, step, fc.double({ min: 0, max: 1, noNaN: true }), fc.integer({ min: -3, max: 3 })],
  (from, taken, at, exponent) => {
    const first = at * taken.intervalMs;
    const between = creditAfter(from, { ...taken, intervalMs: first });
    const after = creditAfter(between, { ...taken, intervalMs: taken.intervalMs - first });
    assert.ok(near(after, creditAfter(from, taken)));
    const { share, need, entitlement, intervalMs } = taken;
    const [a, b, c] = [share, need, entitlement].map((one) => one * 2 ** exponent);
    const scaled = { share: a ?? 0, need: b ?? 0, entitlement: c ?? 0, intervalMs };
    assert.equal(creditAfter(from, scaled), creditAfter(from, taken));
  },
);

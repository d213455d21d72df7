import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import { cases } from "../../tests/fixtures/cases.ts";
import {
  CREDIT_BOUNDS,
  CREDIT_HALF_LIFE_MS,
  creditAfter,
  type CreditStep,
  NEUTRAL_CREDIT,
} from "./credits.ts";

const amount = fc.oneof(fc.double({ min: 1, max: 1e4, noNaN: true }), fc.constant(0));
const credit = fc.double({ min: CREDIT_BOUNDS.least, max: CREDIT_BOUNDS.most, noNaN: true });
const step: fc.Arbitrary<CreditStep> = fc.record({
  share: amount,
  need: amount,
  entitlement: amount,
  intervalMs: fc.double({ min: 0, max: 3e6, noNaN: true }),
});
/** Powers and logarithms of numbers near 1 are good to a few units of the last place. */
const ROUNDING = 1e-14;
const near = (a: number, b: number): boolean => Math.abs(a - b) <= ROUNDING;

pure("creditAfter() gives the worked values", () => {
  const after = (from: number, need: number, share: number): number =>
    creditAfter(from, { need, share, entitlement: 1000, intervalMs: CREDIT_HALF_LIFE_MS });
  assert.ok(near(after(1, 0, 0), Math.SQRT2));
  assert.ok(near(after(1, 500, 500), 2 ** 0.25));
  assert.ok(near(after(1, 1500, 1500), 2 ** -0.25));
  assert.ok(near(after(1, 1500, 1000), 1));
  assert.ok(near(after(2, 1500, 1000), Math.SQRT2));
});

pure("creditAfter() earns from neutral by leaving and spends by taking", () => {
  const interval = { entitlement: 1000, intervalMs: 1000 };
  assert.ok(creditAfter(NEUTRAL_CREDIT, { ...interval, need: 999, share: 999 }) > 1);
  assert.ok(creditAfter(NEUTRAL_CREDIT, { ...interval, need: 2000, share: 1001 }) < 1);
});

pure("creditAfter() stays within its bounds, whatever it is given", () => {
  const anyCredit = fc.double({ min: 0, max: 1e9, noNaN: true });
  fc.assert(
    fc.property(anyCredit, step, (from, taken) => {
      const after = creditAfter(from, taken);
      assert.ok(after >= CREDIT_BOUNDS.least && after <= CREDIT_BOUNDS.most);
    }),
    cases(5),
  );
});

pure("creditAfter() leaves a neutral bidder neutral that neither leaves nor takes", () => {
  fc.assert(
    fc.property(step, amount, ({ share, entitlement, intervalMs }, more) => {
      const got = Math.min(share, entitlement);
      const neither = { share: got, need: entitlement + more, entitlement, intervalMs };
      assert.equal(creditAfter(NEUTRAL_CREDIT, neither), NEUTRAL_CREDIT);
    }),
    cases(5),
  );
});

pure("creditAfter() drifts half of the way to neutral in a half-life", () => {
  const neither = { share: 100, need: 100, entitlement: 100 };
  fc.assert(
    fc.property(credit, (from) => {
      const after = creditAfter(from, { ...neither, intervalMs: CREDIT_HALF_LIFE_MS });
      assert.ok(near(after, Math.sqrt(from)));
    }),
    cases(5),
  );
});

pure(
  "creditAfter() never rises with more need or share, nor falls with credit or entitlement",
  () => {
    fc.assert(
      fc.property(credit, step, amount, credit, (from, taken, more, other) => {
        const after = creditAfter(from, taken);
        assert.ok(creditAfter(from, { ...taken, need: taken.need + more }) <= after + ROUNDING);
        assert.ok(creditAfter(from, { ...taken, share: taken.share + more }) <= after + ROUNDING);
        const entitled = creditAfter(from, { ...taken, entitlement: taken.entitlement + more });
        assert.ok(entitled >= after - ROUNDING);
        assert.ok(creditAfter(Math.max(from, other), taken) >= after - ROUNDING);
      }),
      cases(5),
    );
  },
);

pure("creditAfter() gives the same for an interval and for its two parts", () => {
  fc.assert(
    fc.property(credit, step, fc.double({ min: 0, max: 1, noNaN: true }), (from, taken, at) => {
      const first = at * taken.intervalMs;
      const between = creditAfter(from, { ...taken, intervalMs: first });
      const after = creditAfter(between, { ...taken, intervalMs: taken.intervalMs - first });
      assert.ok(near(after, creditAfter(from, taken)));
    }),
    cases(5),
  );
});

pure("creditAfter() gives equal histories equal credits at any scale of CPU", () => {
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 20 }),
      fc.integer({ min: -3, max: 3 }),
      (history, n) => {
        const run = (scale: number): number =>
          history.reduce((from, { share, need, entitlement, intervalMs }) =>
            creditAfter(from, {
              share: share * scale,
              need: need * scale,
              entitlement: entitlement * scale,
              intervalMs,
            }), NEUTRAL_CREDIT);
        assert.equal(run(2 ** n), run(1));
      },
    ),
    cases(5),
  );
});

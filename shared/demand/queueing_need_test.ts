import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import { queueingNeed } from "./queueing_need.ts";

/** Chance of a wait beyond which work counts as late, and least headroom, as the module has them. */
const LATE = 0.01;
const LEAST_HEADROOM = 0.05;

const mean = fc.double({ min: 0, max: 100_000, noNaN: true });
const burstinessMs = fc.double({ min: 0, max: 10_000, noNaN: true });
const waitMs = fc.double({ min: 1, max: 10_000, noNaN: true });

pure(
  "queueingNeed() is a twentieth above the mean of work that comes evenly, and 0 for none",
  () => {
    assert.equal(queueingNeed({ mean: 1000, burstinessMs: 0 }, 75), 1050);
    assert.equal(queueingNeed({ mean: 0, burstinessMs: 100 }, 75), 0);
  },
);

pure(
  "queueingNeed() asks a small service for several times its mean, a large one for a tenth",
  () => {
    // c = (m + √(m² + 2 m × 20 × ln 100 / 75)) / 2 with 2 × 20 × ln 100 / 75 = 2.4561:
    // m = 0.1: (0.1 + √0.25561) / 2 = 0.3028; m = 10: (10 + √124.561) / 2 = 10.5804.
    const need = (of: number) => queueingNeed({ mean: of, burstinessMs: 20 }, 75);
    assert.ok(Math.abs(need(100) - 302.8) < 0.1, `${need(100)}`);
    assert.ok(Math.abs(need(10_000) - 10_580.4) < 0.1, `${need(10_000)}`);
  },
);

pure("queueingNeed() solves P(wait > x) = exp(−2 (c − m) c x / (b m)) = 1 %", () => {
  const some = fc.double({ min: 1, max: 100_000, noNaN: true });
  fc.assert(fc.property(some, burstinessMs, waitMs, (m, b, x) => {
    const c = queueingNeed({ mean: m, burstinessMs: b }, x);
    if (c <= m * (1 + LEAST_HEADROOM) * (1 + 1e-9)) return;
    const late = Math.exp(-2 * (c - m) / 1000 * c * x / (b * m));
    assert.ok(Math.abs(late / LATE - 1) < 1e-6, `P is ${late} for c = ${c}`);
  }));
});

pure("queueingNeed() makes late work no likelier where the least headroom decides", () => {
  const some = fc.double({ min: 1, max: 100_000, noNaN: true });
  fc.assert(fc.property(some, burstinessMs, waitMs, (m, b, x) => {
    const c = queueingNeed({ mean: m, burstinessMs: b }, x);
    assert.ok(c >= m * (1 + LEAST_HEADROOM) * (1 - 1e-12));
    assert.ok(Math.exp(-2 * (c - m) / 1000 * c * x / (b * m)) <= LATE * (1 + 1e-6));
  }));
});

pure("queueingNeed() grows with mean and burstiness, and falls with the wait", () => {
  fc.assert(
    fc.property(mean, mean, burstinessMs, burstinessMs, waitMs, waitMs, (m, n, b, d, x, y) => {
      const less = queueingNeed(
        { mean: Math.min(m, n), burstinessMs: Math.min(b, d) },
        Math.max(x, y),
      );
      const more = queueingNeed(
        { mean: Math.max(m, n), burstinessMs: Math.max(b, d) },
        Math.min(x, y),
      );
      assert.ok(less <= more * (1 + 1e-12));
    }),
  );
});

pure(
  "queueingNeed() scales with the unit: ten times the work in ten times the pieces and time",
  () => {
    fc.assert(fc.property(mean, burstinessMs, waitMs, (m, b, x) => {
      const once = queueingNeed({ mean: m, burstinessMs: b }, x);
      const scaled = queueingNeed({ mean: m, burstinessMs: 10 * b }, 10 * x);
      assert.ok(Math.abs(once - scaled) <= 1e-9 * (once + 1));
    }));
  },
);

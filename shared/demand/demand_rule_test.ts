import assert from "node:assert/strict";
import fc from "fast-check";
import { forAll } from "../../tests/fixtures/for_all.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { MOST_WAIT_MS, WAIT_TARGET_MS } from "./common_wait.ts";
import { createDemandRule, demandOf, queueingNeed } from "./demand_rule.ts";
import type { DemandSignal } from "./saturation.ts";

const INTERVAL_MS = 250;

function signal(fields: Partial<DemandSignal>): DemandSignal {
  return {
    ...{ intervalMs: INTERVAL_MS, usage: 0, throttledMsPerS: 0, throttledShare: 0 },
    ...{ scarcity: 0, waitMs: WAIT_TARGET_MS },
    ...fields,
  };
}

const anySignal: fc.Arbitrary<DemandSignal> = fc.record({
  intervalMs: fc.integer({ min: 10, max: 60_000 }),
  usage: fc.integer({ min: 0, max: 8_000_000 }).map((micro) => micro / 1000),
  throttledMsPerS: fc.oneof(fc.constant(0), fc.double({ min: 0, max: 64_000, noNaN: true })),
  throttledShare: fc.double({ min: 0, max: 1, noNaN: true }),
  quota: fc.integer({ min: 10, max: 8000 }),
  scarcity: fc.double({ min: 0, max: 1, noNaN: true }),
  waitMs: fc.double({ min: WAIT_TARGET_MS, max: MOST_WAIT_MS, noNaN: true }),
});

forAll(
  "createDemandRule() stays within what readings allow, whatever they are",
  [fc.array(anySignal, { minLength: 1, maxLength: 60 })],
  (signals) => {
    const rule = createDemandRule();
    let [mostUsed, mostThreads] = [0, 0];
    for (const one of signals) {
      mostUsed = Math.max(mostUsed, one.usage);
      mostThreads = Math.max(mostThreads, one.usage + one.throttledMsPerS);
      const { mean, burstinessMs, trial } = rule(one);
      assert.ok(mean >= 0 && mean <= mostUsed * (1 + 1e-9));
      assert.ok(burstinessMs >= 0 && Number.isFinite(burstinessMs));
      assert.ok(trial >= 0 && trial <= mostThreads);
    }
  },
  1,
);

pure("createDemandRule() tries four times the quota for threads that wait, then all of it", () => {
  const busy = { usage: 200, throttledMsPerS: 800, throttledShare: 1, quota: 200 };
  assert.ok(Math.abs(createDemandRule()(signal({ ...busy, scarcity: 1 })).trial - 300) < 1e-9);
  const rule = createDemandRule();
  assert.equal(rule(signal(busy)).trial, 800);
  const still = { ...busy, usage: 800, throttledMsPerS: 200, quota: 800 };
  let trial = 0;
  for (let at = 0; at < 1000; at += INTERVAL_MS) trial = rule(signal(still)).trial;
  assert.equal(trial, 1000);
});

forAll(
  "createDemandRule() settles on constant usage, whatever came before",
  [fc.array(fc.nat(4000), { maxLength: 100 }), fc.nat(4000)],
  (before, usage) => {
    const rule = createDemandRule();
    for (const past of before) rule(signal({ usage: past }));
    let last = rule(signal({ usage }));
    // Twenty time constants of the mean, e^-20 of 4000 m; the block that holds both fades, too.
    for (let at = 0; at < 300_000; at += INTERVAL_MS) last = rule(signal({ usage }));
    assert.ok(Math.abs(last.mean - usage) <= 1e-3, `${last.mean} for ${usage}`);
    assert.equal(last.trial, 0);
  },
  0.3,
);

pure("demandOf() is the need, or what is tried out if that is more", () => {
  const of = (trial: number) => demandOf({ mean: 1000, burstinessMs: 0, trial }, 75);
  assert.deepEqual([0, 1049, 4000].map(of), [1050, 1050, 4000]);
});

/** Chance of a wait beyond which work counts as late, and least headroom, as the module has them. */
const LATE = 0.01;
const LEAST_HEADROOM = 0.05;

const mean = fc.double({ min: 1, max: 100_000, noNaN: true });
const burstiness = fc.double({ min: 0, max: 10_000, noNaN: true });
const wait = fc.double({ min: 1, max: 10_000, noNaN: true });

pure("queueingNeed() is several times a small mean, a tenth above a large one", () => {
  assert.equal(queueingNeed({ mean: 1000, burstinessMs: 0 }, 75), 1050);
  assert.equal(queueingNeed({ mean: 0, burstinessMs: 100 }, 75), 0);
  // c = (m + √(m² + 2 m × 20 × ln 100 / 75)) / 2 with 2 × 20 × ln 100 / 75 = 2.4561:
  // m = 0.1: (0.1 + √0.25561) / 2 = 0.3028; m = 10: (10 + √124.561) / 2 = 10.5804.
  for (const [of, need] of [[100, 302.8], [10_000, 10_580.4]] as const) {
    assert.ok(Math.abs(queueingNeed({ mean: of, burstinessMs: 20 }, 75) - need) < 0.1);
  }
});

forAll(
  "queueingNeed() solves P(wait > x) = exp(−2 (c − m) c x / (b m)) = 1 %, beside a least headroom",
  [mean, burstiness, wait],
  (m, b, x) => {
    const c = queueingNeed({ mean: m, burstinessMs: b }, x);
    const late = Math.exp(-2 * (c - m) / 1000 * c * x / (b * m));
    assert.ok(c >= m * (1 + LEAST_HEADROOM) * (1 - 1e-12) && late <= LATE * (1 + 1e-6));
    const isLeast = c <= m * (1 + LEAST_HEADROOM) * (1 + 1e-9);
    assert.ok(isLeast || Math.abs(late / LATE - 1) < 1e-6, `P is ${late} for c = ${c}`);
  },
  1,
);

forAll(
  "queueingNeed() grows with mean and burstiness, falls with the wait, and scales with the unit",
  [mean, mean, burstiness, burstiness, wait, wait],
  (m, n, b, d, x, y) => {
    const low = { mean: Math.min(m, n), burstinessMs: Math.min(b, d) };
    const high = { mean: Math.max(m, n), burstinessMs: Math.max(b, d) };
    const more = queueingNeed(high, Math.min(x, y));
    assert.ok(queueingNeed(low, Math.max(x, y)) <= more * (1 + 1e-12));
    const once = queueingNeed({ mean: m, burstinessMs: b }, x);
    const scaled = queueingNeed({ mean: m, burstinessMs: 10 * b }, 10 * x);
    assert.ok(Math.abs(once - scaled) <= 1e-9 * (once + 1));
  },
  1,
);

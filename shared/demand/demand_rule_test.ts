import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import { cases } from "../../tests/fixtures/cases.ts";
import { MOST_WAIT_MS, WAIT_TARGET_MS } from "./common_wait.ts";
import { createDemandRule, demandOf, type DemandSignal } from "./demand_rule.ts";

const INTERVAL_MS = 250;

function signal(fields: Partial<DemandSignal>): DemandSignal {
  return {
    intervalMs: INTERVAL_MS,
    usage: 0,
    throttledMsPerS: 0,
    throttledShare: 0,
    scarcity: 0,
    waitMs: WAIT_TARGET_MS,
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

pure("createDemandRule() stays within what readings allow, whatever they are", () => {
  fc.assert(fc.property(fc.array(anySignal, { minLength: 1, maxLength: 60 }), (signals) => {
    const rule = createDemandRule();
    let mostUsed = 0;
    let mostThreads = 0;
    for (const one of signals) {
      mostUsed = Math.max(mostUsed, one.usage);
      mostThreads = Math.max(mostThreads, one.usage + one.throttledMsPerS);
      const { mean, burstinessMs, trial } = rule(one);
      assert.ok(mean >= 0 && mean <= mostUsed * (1 + 1e-9));
      assert.ok(burstinessMs >= 0 && Number.isFinite(burstinessMs));
      assert.ok(trial >= 0 && trial <= mostThreads);
    }
  }));
});

pure(
  "createDemandRule() tries 800 m for a thread that waits at a 200 m quota, then all of it",
  () => {
    const rule = createDemandRule();
    const busy = signal({ usage: 200, throttledMsPerS: 800, throttledShare: 1, quota: 200 });
    assert.equal(rule(busy).trial, 800);
    const still = signal({ usage: 800, throttledMsPerS: 200, throttledShare: 1, quota: 800 });
    let trial = 0;
    for (let at = 0; at < 1000; at += INTERVAL_MS) trial = rule(still).trial;
    assert.equal(trial, 1000);
  },
);

pure("createDemandRule() tries half as much again where CPU is scarce", () => {
  const rule = createDemandRule();
  const scarce = signal({
    usage: 200,
    throttledMsPerS: 800,
    throttledShare: 1,
    quota: 200,
    scarcity: 1,
  });
  assert.ok(Math.abs(rule(scarce).trial - 300) < 1e-9);
});

pure("createDemandRule() settles on constant usage, whatever came before", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 4000 }), { maxLength: 100 }),
      fc.integer({ min: 0, max: 4000 }),
      (before, usage) => {
        const rule = createDemandRule();
        for (const past of before) rule(signal({ usage: past }));
        let last = rule(signal({ usage }));
        // Twenty time constants of the mean, e^-20 of 4000 m; the block that holds both fades, too.
        for (let at = 0; at < 300_000; at += INTERVAL_MS) last = rule(signal({ usage }));
        assert.ok(Math.abs(last.mean - usage) <= 1e-3, `${last.mean} for ${usage}`);
        assert.equal(last.trial, 0);
      },
    ),
    cases(0.3),
  );
});

pure("demandOf() is the need, or what is tried out if that is more", () => {
  const estimate = { mean: 1000, burstinessMs: 0 };
  assert.equal(demandOf({ ...estimate, trial: 0 }, 75), 1050);
  assert.equal(demandOf({ ...estimate, trial: 1049 }, 75), 1050);
  assert.equal(demandOf({ ...estimate, trial: 4000 }, 75), 4000);
});

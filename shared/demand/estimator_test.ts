import assert from "node:assert/strict";
import fc from "fast-check";
import { createEstimator } from "./estimator.ts";
import { withFastRiseSlowFall } from "./fast_rise_slow_fall.ts";
import { heldBackDemand } from "./held_back_demand.ts";
import { withMargin } from "./margin.ts";
import { withPeakOverWindow } from "./peak_over_window.ts";
import type { DemandSignal } from "./signal.ts";
import { throttleRatioDemand } from "./throttle_ratio.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function signal(fields: Partial<DemandSignal>): DemandSignal {
  return { at: 0, intervalMs: 250, usage: 0, heldBack: 0, ceiling: 4000, ...fields };
}

test("heldBackDemand() adds what a quota kept from running to what ran", () => {
  assert.equal(heldBackDemand(signal({ usage: 200, heldBack: 800 })), 1000);
});

test("throttleRatioDemand() leaves a margin while nothing is throttled", () => {
  assert.equal(throttleRatioDemand()(signal({ usage: 100 })), 110.00000000000001);
});

test("throttleRatioDemand() goes to the ceiling when a tenth of the CPU time is throttled", () => {
  const rule = throttleRatioDemand();
  assert.equal(rule(signal({ usage: 1000, heldBack: 100 })), 4000);
  assert.equal(rule(signal({ usage: 1000, heldBack: 50 })), 2500);
  assert.equal(rule(signal({ usage: 0, heldBack: 5 })), 4000);
  assert.equal(rule(signal({ usage: 0, heldBack: 0 })), 0);
});

test("withMargin() multiplies and refuses a factor below 1", () => {
  assert.equal(withMargin(heldBackDemand, 1.5)(signal({ usage: 100 })), 150);
  assert.throws(() => withMargin(heldBackDemand, 0.9), /factor is 0.9/);
  assert.throws(() => withMargin(heldBackDemand, NaN), /factor is NaN/);
});

test("withPeakOverWindow() rises at once and falls when the peak has left the window", () => {
  const rule = withPeakOverWindow(heldBackDemand, 1000);
  const at = (time: number, usage: number): number => rule(signal({ at: time, usage }));
  assert.equal(at(0, 100), 100);
  assert.equal(at(250, 500), 500);
  assert.equal(at(500, 200), 500);
  assert.equal(at(1250, 100), 500);
  assert.equal(at(1251, 100), 200);
  assert.equal(at(1501, 50), 100);
});

test("withPeakOverWindow() equals the maximum over the window for any history", () => {
  const history = fc.array(
    fc.record({ gap: fc.integer({ min: 1, max: 900 }), usage: fc.integer({ min: 0, max: 50 }) }),
    { minLength: 1, maxLength: 60 },
  );
  fc.assert(fc.property(history, (steps) => {
    const rule = withPeakOverWindow(heldBackDemand, 1000);
    const seen: { at: number; usage: number }[] = [];
    let at = 0;
    for (const { gap, usage } of steps) {
      at += gap;
      seen.push({ at, usage });
      const expected = Math.max(
        ...seen.filter((past) => past.at >= at - 1000).map((past) => past.usage),
      );
      assert.equal(rule(signal({ at, usage })), expected);
    }
  }));
});

test("withFastRiseSlowFall() weighs a rise more than a fall", () => {
  const rule = withFastRiseSlowFall(heldBackDemand);
  assert.equal(rule(signal({ usage: 100 })), 100);
  assert.ok(Math.abs(rule(signal({ usage: 200 })) - 130) < 1e-9);
  assert.ok(Math.abs(rule(signal({ usage: 30 })) - 120) < 1e-9);
});

test("withFastRiseSlowFall() does not smooth less when sampled faster", () => {
  const slow = withFastRiseSlowFall(heldBackDemand);
  const fast = withFastRiseSlowFall(heldBackDemand);
  slow(signal({ usage: 0 }));
  fast(signal({ usage: 0 }));
  const once = slow(signal({ usage: 100, intervalMs: 250 }));
  fast(signal({ usage: 100, intervalMs: 125 }));
  assert.ok(Math.abs(fast(signal({ usage: 100, intervalMs: 125 })) - once) < 1e-9);
});

test("createEstimator() never estimates less than a container has just used", () => {
  const samples = fc.array(
    fc.record({
      usage: fc.double({ min: 0, max: 8000, noNaN: true }),
      heldBack: fc.double({ min: 0, max: 8000, noNaN: true }),
    }),
    { minLength: 1, maxLength: 50 },
  );
  fc.assert(fc.property(samples, (steps) => {
    const rule = createEstimator();
    steps.forEach(({ usage, heldBack }, index) => {
      assert.ok(rule(signal({ at: index * 250, usage, heldBack })) >= usage);
    });
  }));
});

test("createEstimator() settles under constant demand, whatever came before", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 4000 }), { maxLength: 100 }),
      fc.integer({ min: 1, max: 4000 }),
      (before, usage) => {
        const rule = createEstimator({ peakWindowMs: 10_000 });
        let at = 0;
        for (const past of before) rule(signal({ at: at += 250, usage: past }));
        at += 10_001;
        assert.equal(rule(signal({ at, usage })), usage * 1.1);
      },
    ),
  );
});

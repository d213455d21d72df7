import assert from "node:assert/strict";
import fc from "fast-check";
import { growthWhileThrottled } from "./growth_while_throttled.ts";
import type { DemandSignal } from "./signal.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function signal(fields: Partial<DemandSignal>): DemandSignal {
  return { intervalMs: 250, usage: 0, heldBack: 0, throttledShare: 0, scarcity: 0, ...fields };
}

pure(
  "growthWhileThrottled() says the usage where nothing was held back or there is no quota",
  () => {
    const rule = growthWhileThrottled();
    assert.equal(rule(signal({ usage: 150, quota: 200, throttledShare: 1 })), 150);
    assert.equal(rule(signal({ usage: 150, heldBack: 300, throttledShare: 1 })), 150);
  },
);

pure("growthWhileThrottled() steps further the larger the share of throttled periods", () => {
  const held = { usage: 200, heldBack: 8000, quota: 200 };
  assert.equal(growthWhileThrottled()(signal({ ...held, throttledShare: 0.5 })), 500);
  assert.equal(growthWhileThrottled()(signal({ ...held, throttledShare: 1 })), 800);
});

pure("growthWhileThrottled() tolerates throttling of most periods while CPU is scarce", () => {
  const rule = growthWhileThrottled();
  const held = signal({ usage: 200, heldBack: 800, quota: 200, throttledShare: 0.8, scarcity: 1 });
  for (let sample = 0; sample < 100; sample++) assert.equal(rule(held), 200);
});

pure("growthWhileThrottled() stays between usage and usage with the time held back", () => {
  const signals = fc.array(
    fc.record({
      intervalMs: fc.integer({ min: 10, max: 10_000 }),
      usage: fc.double({ min: 0, max: 8000, noNaN: true }),
      heldBack: fc.double({ min: 0, max: 64_000, noNaN: true }),
      throttledShare: fc.double({ min: 0, max: 1, noNaN: true }),
      quota: fc.integer({ min: 10, max: 8000 }),
      scarcity: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
    { minLength: 1, maxLength: 40 },
  );
  fc.assert(fc.property(signals, (history) => {
    const rule = growthWhileThrottled();
    for (const one of history) {
      const said = rule(one);
      assert.ok(said >= one.usage && said <= one.usage + one.heldBack);
      assert.ok(said <= Math.max(one.usage, one.quota * 4));
    }
  }));
});

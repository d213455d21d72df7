import assert from "node:assert/strict";
import fc from "fast-check";
import type { DemandSignal } from "./signal.ts";
import { usageWithSpread } from "./usage_with_spread.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function used(usage: number, intervalMs = 1000): DemandSignal {
  return { intervalMs, usage, heldBack: 0, throttledShare: 0, scarcity: 0 };
}

pure("usageWithSpread() is the usage itself while that does not vary", () => {
  const rule = usageWithSpread();
  for (let second = 0; second < 100; second++) assert.equal(rule(used(300)), 300);
});

pure("usageWithSpread() follows Welford's update with forgetting", () => {
  const memoryMs = 1000 / Math.LN2;
  const rule = usageWithSpread({ memoryMs, deviations: 1 });
  assert.equal(rule(used(100)), 100);
  // Weight 1/2: mean 100 + 50 = 150, variance 1/2 × (0 + 1/2 × 100²) = 2500.
  assert.ok(Math.abs(rule(used(200)) - 200) < 1e-9);
});

pure("usageWithSpread() averages over a second: what varies within one is no spread", () => {
  const rule = usageWithSpread();
  let last = 0;
  // The first sample alone is the first mean, hence a whole second of it.
  for (let at = 0; at < 4; at++) last = rule(used(200, 250));
  for (let at = 0; at < 400; at++) last = rule(used(at % 2 === 0 ? 100 : 300, 250));
  assert.ok(Math.abs(last - 200) < 1e-9);
});

pure("usageWithSpread() never says less than the weighted mean", () => {
  const history = fc.array(fc.integer({ min: 0, max: 8000 }), { minLength: 1, maxLength: 100 });
  fc.assert(fc.property(history, (usages) => {
    const rule = usageWithSpread();
    const mean = usageWithSpread({ deviations: 0 });
    for (const usage of usages) assert.ok(rule(used(usage)) >= mean(used(usage)));
  }));
});

pure("usageWithSpread() stays within the mean and two standard deviations of the extremes", () => {
  const history = fc.array(fc.integer({ min: 100, max: 900 }), { minLength: 1, maxLength: 100 });
  fc.assert(fc.property(history, (usages) => {
    const rule = usageWithSpread();
    for (const usage of usages) {
      const said = rule(used(usage));
      // A variable between 100 and 900 has a standard deviation of at most 400.
      assert.ok(said >= 100 && said <= 900 + 2 * 400);
    }
  }));
});

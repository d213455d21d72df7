import assert from "node:assert/strict";
import fc from "fast-check";
import { exactDistribution } from "./exact_distribution.ts";

function of(...values: readonly number[]): ReturnType<typeof exactDistribution> {
  return exactDistribution({
    atMs: Float64Array.from(values, (_, index) => 1000 * index),
    values: Float64Array.from(values),
  });
}

Deno.test({
  name: "exactDistribution() interpolates between ranks, whatever the order of samples",
  permissions: "none",
  fn() {
    const usage = of(300, 100, 200);
    assert.deepEqual([0, 0.5, 0.9, 1].map((share) => usage.quantile(share)), [100, 200, 280, 300]);
    assert.deepEqual([usage.count, usage.min, usage.max], [3, 100, 300]);
    assert.deepEqual([usage.oldestMs, usage.newestMs], [0, 2000]);
    assert.equal(of(7).quantile(0.9), 7);
  },
});

Deno.test({
  name: "exactDistribution() refuses fractions outside of 0 to 1, and quantiles of nothing",
  permissions: "none",
  fn() {
    for (const fraction of [-0.1, 1.1, NaN]) {
      assert.throws(() => of(1).quantile(fraction), RangeError);
    }
    assert.equal(of().count, 0);
    assert.throws(() => of().quantile(0.5), /Cannot take quantile 0.5 of 0 samples/);
  },
});

Deno.test({
  name: "exactDistribution() has quantiles that grow with the fraction, between min and max",
  permissions: "none",
  fn() {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0, max: 1e12, noNaN: true }), { minLength: 1 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (values, one, other) => {
          const usage = of(...values);
          const low = usage.quantile(Math.min(one, other));
          const high = usage.quantile(Math.max(one, other));
          assert.ok(usage.min <= low && low <= high * (1 + 1e-12));
          assert.ok(high <= usage.max * (1 + 1e-12));
        },
      ),
    );
  },
});

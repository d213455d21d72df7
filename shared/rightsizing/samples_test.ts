import assert from "node:assert/strict";
import fc from "fast-check";
import { distributionOfSamples } from "./samples.ts";

const NOW_MS = 1_800_000_000_000;
const WINDOW_MS = 86_400_000;
const WINDOW = { nowMs: NOW_MS, windowMs: WINDOW_MS } as const;

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const time = fc.oneof(
  fc.integer({ min: NOW_MS - 2 * WINDOW_MS, max: NOW_MS + WINDOW_MS }),
  fc.constantFrom(NOW_MS - WINDOW_MS, NOW_MS - WINDOW_MS + 1, NOW_MS, NOW_MS + 1),
);
const sample = fc.record({
  atMs: time,
  value: fc.oneof(
    fc.nat({ max: 1e15 }).map((thousandths) => thousandths / 1000),
    fc.constantFrom(0, NaN, -1, Infinity),
  ),
});
const samples = fc.array(sample, { maxLength: 80 });

pure("distributionOfSamples() pools the samples of all pods, in any order", () => {
  const pods = [[300, 100], [200]];
  const pooled = pods.flatMap((values, pod) =>
    values.map((value, index) => ({ atMs: NOW_MS - 60_000 * (pod + index), value }))
  );
  const all = distributionOfSamples(pooled, WINDOW);
  assert.equal(all.count, 3);
  assert.equal(all.min, 100);
  assert.equal(all.max, 300);
  assert.equal(all.quantile(0.5), 200);
  assert.equal(all.quantile(0.9), 280);
  assert.equal(all.oldestMs, NOW_MS - 60_000);
  assert.equal(all.newestMs, NOW_MS);
});

pure("distributionOfSamples() of nothing has no quantile, and saw nothing since the start", () => {
  const none = distributionOfSamples([{ atMs: NOW_MS, value: NaN }], WINDOW);
  assert.equal(none.count, 0);
  assert.equal(none.newestMs, NOW_MS - WINDOW_MS);
  assert.equal(none.oldestMs, NOW_MS - WINDOW_MS);
  assert.throws(() => none.quantile(0.5), RangeError);
});

pure(
  "property 12: distributionOfSamples() takes samples of (now − window, now] and no others",
  () => {
    fc.assert(fc.property(samples, (drawn) => {
      const inside = drawn.filter(({ atMs, value }) =>
        value >= 0 && value < Infinity && NOW_MS - WINDOW_MS < atMs && atMs <= NOW_MS
      );
      const found = distributionOfSamples(drawn, WINDOW);
      assert.equal(found.count, inside.length);
      if (inside.length === 0) return;
      assert.equal(found.oldestMs, Math.min(...inside.map(({ atMs }) => atMs)));
      assert.equal(found.newestMs, Math.max(...inside.map(({ atMs }) => atMs)));
      assert.ok(found.oldestMs > NOW_MS - WINDOW_MS && found.newestMs <= NOW_MS);
      assert.equal(found.min, Math.min(...inside.map(({ value }) => value)));
      assert.equal(found.max, Math.max(...inside.map(({ value }) => value)));
    }));
  },
);

pure("property 13: distributionOfSamples() has P50 ≤ P90 ≤ P99 within min and max", () => {
  fc.assert(fc.property(samples, (drawn) => {
    const found = distributionOfSamples(drawn, WINDOW);
    if (found.count === 0) return;
    const ranks = [0.5, 0.9, 0.95, 0.99].map((fraction) => found.quantile(fraction));
    const ordered = [found.min, ...ranks, found.max];
    assert.deepEqual(ordered, ordered.toSorted((a, b) => a - b));
  }));
});

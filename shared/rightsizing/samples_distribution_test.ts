import assert from "node:assert/strict";
import { samplesDistribution } from "./samples_distribution.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const TIMES = { oldestMs: 1, newestMs: 2 };

test("samplesDistribution() is linear between ranks", () => {
  const subject = samplesDistribution(Float64Array.of(300, 100, 200), TIMES);
  assert.deepEqual([subject.count, subject.min, subject.max], [3, 100, 300]);
  assert.deepEqual([0, 0.5, 0.9, 1].map(subject.quantile), [100, 200, 280, 300]);
  assert.deepEqual([subject.oldestMs, subject.newestMs], [1, 2]);
});

test("samplesDistribution() has no quantile outside of 0..1, or of nothing", () => {
  const subject = samplesDistribution(Float64Array.of(1), TIMES);
  for (const fraction of [-0.1, 1.1, NaN]) {
    assert.throws(() => subject.quantile(fraction), RangeError);
  }
  assert.throws(() => samplesDistribution(new Float64Array(), TIMES).quantile(0.5), RangeError);
});

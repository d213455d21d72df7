import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import {
  createLatencyHistogram,
  latencyQuantile,
  mergeLatencies,
  recordLatency,
} from "./latency_histogram.ts";

pure("latencyQuantile() stays within 1 % of the nearest-rank value", () =>
  fc.assert(fc.property(
    fc.array(fc.double({ min: 0.011, max: 1e8, noNaN: true }), { minLength: 1 }),
    fc.double({ min: 0, max: 1, noNaN: true }),
    (values, quantile) => {
      const histogram = createLatencyHistogram();
      for (const value of values) recordLatency(histogram, value);
      const sorted = values.toSorted((a, b) => a - b);
      const rank = Math.max(1, Math.ceil(quantile * values.length));
      const expected = sorted[rank - 1] ?? NaN;
      const error = Math.abs(latencyQuantile(histogram, quantile) / expected - 1);
      assert.ok(error <= 0.01 + 1e-9, `error ${error}`);
    },
  )));

pure("latencyQuantile() is 0 without values and refuses a share outside 0 to 1", () => {
  assert.equal(latencyQuantile(createLatencyHistogram(), 0.5), 0);
  assert.throws(() => latencyQuantile(createLatencyHistogram(), 1.1), /1\.1 is not between/);
});

pure("recordLatency() keeps what lies outside its range in the outermost buckets", () => {
  const histogram = createLatencyHistogram();
  recordLatency(histogram, 0);
  recordLatency(histogram, 1e12);
  assert.equal(histogram.total, 2);
  assert.ok(latencyQuantile(histogram, 0.5) < 0.0102);
  assert.ok(latencyQuantile(histogram, 1) > 1e8);
});

pure("mergeLatencies() counts as if all values had been recorded in one", () => {
  const [left, right, both] = [1, 2, 3].map(createLatencyHistogram);
  assert.ok(left && right && both);
  for (let ms = 1; ms <= 100; ms++) {
    recordLatency(ms % 3 === 0 ? left : right, ms);
    recordLatency(both, ms);
  }
  mergeLatencies(left, right);
  assert.deepEqual(left, both);
});

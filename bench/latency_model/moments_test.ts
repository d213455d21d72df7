import assert from "node:assert/strict";
import { createLatencyHistogram, recordLatency } from "../../simulation/node/latency_histogram.ts";
import { histogramMoments } from "./moments.ts";

Deno.test({
  name: "histogramMoments() gives mean and standard deviation within the histogram's 1 %",
  permissions: "none",
  fn() {
    const histogram = createLatencyHistogram();
    assert.deepEqual(histogramMoments(histogram), { mean: 0, spread: 0 });
    for (const ms of [100, 300]) recordLatency(histogram, ms);
    const { mean, spread } = histogramMoments(histogram);
    assert.ok(Math.abs(mean / 200 - 1) < 0.01, `${mean}`);
    assert.ok(Math.abs(spread / 100 - 1) < 0.04, `${spread}`);
  },
});

import assert from "node:assert/strict";
import { type CostCurve, fitBottleneck, modelledCurves, predict } from "./bottleneck.ts";
import type { RecordedRun } from "./recording.ts";

/** A P99 that is inversely proportional to units. */
const CURVES: readonly CostCurve[] = [500, 5000].map((costMs) => ({
  costMs,
  p99: (units) => costMs / units,
}));

function run(a: number, b: number, p99Ms: number): RecordedRun {
  const units = new Map([["a", a], ["b", b]]);
  return { completed: 1, meanMs: 1, p99Ms, spreadMs: p99Ms, units, steady: true };
}

const RUNS = [run(3, 5, 1000), run(4, 2, 2500), run(5, 10, 500)];

Deno.test({
  name:
    "fitBottleneck() finds the service and cost by which latencies go, and predict() says how well",
  permissions: "none",
  fn() {
    const found = fitBottleneck(RUNS, CURVES);
    assert.deepEqual([found.service, found.costMs, found.constantMs], ["b", 5000, 1000]);
    const predicted = predict(RUNS, found);
    assert.deepEqual([predicted.runs, predicted.p99Correlation, predicted.spreadCorrelation], [
      3,
      1,
      1,
    ]);
    assert.equal(predicted.error, 0);
    // ln 1, ln 2.5 and ln 2, over 3.
    assert.ok(Math.abs(predicted.constantError - Math.log(5) / 3) < 1e-12);
  },
});

Deno.test({
  name: "fitBottleneck() leaves out runs in which units changed, and refuses to go without others",
  permissions: "none",
  fn() {
    const changing = RUNS.map((one) => ({ ...one, steady: false }));
    assert.throws(() => fitBottleneck(changing, CURVES), RangeError);
    assert.equal(fitBottleneck([...changing, run(5, 1, 1000)], CURVES).constantMs, 1000);
  },
});

Deno.test({
  name: "predict() cuts expectations to what recordings can show",
  permissions: "none",
  fn() {
    const [idle] = [run(10, 10, 105)];
    const bottleneck = { service: "a", costMs: 1, p99: () => 3, constantMs: 110 };
    assert.equal(predict([idle], bottleneck).error, 0);
  },
});

Deno.test({
  name: "modelledCurves() expect no less of more units",
  permissions: "none",
  fn() {
    const [cheap] = modelledCurves({ count: 1, seed: 1 });
    assert.ok(cheap !== undefined && cheap.p99(24) < 10);
    assert.equal(cheap.p99(24), cheap.p99(1000));
  },
});

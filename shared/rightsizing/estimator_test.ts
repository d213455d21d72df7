import assert from "node:assert/strict";
import { percentileOf, withBounds, withSafetyFactor } from "./estimator.ts";
import type { Percentile } from "./policy_spec.ts";
import { distributionOfSamples } from "./samples.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const USAGE = distributionOfSamples(
  [100, 200, 300].map((value) => ({ atMs: 1000, value })),
  { nowMs: 1000, windowMs: 1000 },
);

function percentile(which: Percentile, windowMs = DAY_MS): ReturnType<typeof percentileOf> {
  return percentileOf({ resource: "cpu", percentile: which, windowMs });
}

pure("percentileOf() takes the policy's percentile, and tells samples and window", () => {
  const amounts = (["P50", "P90", "P95", "P99"] as const).map((one) =>
    percentile(one)(USAGE).amount
  );
  assert.deepEqual(amounts, [200, 280, 290, 298]);
  assert.deepEqual(percentile("P90")(USAGE).told, ["P90 of 3 samples in 24h is 280m"]);
});

pure("percentileOf() tells windows as policies write them", () => {
  const told = (windowMs: number) => percentile("P50", windowMs)(USAGE).told[0];
  assert.equal(told(7 * DAY_MS), "P50 of 3 samples in 7d is 200m");
  assert.equal(told(36 * HOUR_MS), "P50 of 3 samples in 36h is 200m");
  assert.equal(told(HOUR_MS / 2), "P50 of 3 samples in 30m is 200m");
});

pure("withSafetyFactor() multiplies what it wraps, truncates it and says so", () => {
  const estimate = withSafetyFactor(percentile("P90"), { resource: "cpu", factor: 1.25 })(USAGE);
  assert.equal(estimate.amount, 350);
  assert.deepEqual(estimate.told, ["P90 of 3 samples in 24h is 280m", "times 1.25 is 350m"]);
  const odd = withSafetyFactor(percentile("P99"), { resource: "cpu", factor: 1.001 })(USAGE);
  assert.equal(odd.amount, 298, "of 298.298");
});

pure("withBounds() moves what is outside to the nearer bound, and nothing that is inside", () => {
  const bounded = (min: number, max: number) =>
    withBounds(percentile("P50"), { resource: "cpu", bounds: { min, max } })(USAGE);
  const cases = [
    [bounded(100, 1000), 200, /^within .*100m to 1$/],
    [bounded(200, 200), 200, /^within .*200m to 200m$/],
    [bounded(201, 1000), 201, /^raised .*minimum .*201m to 1$/],
    [bounded(10, 199), 199, /^lowered .*maximum .*10m to 199m$/],
  ] as const;
  for (const [{ amount, told }, expected, phrase] of cases) {
    assert.equal(amount, expected);
    assert.match(told.at(-1) ?? "", phrase);
    assert.equal(told.length, 2);
  }
});

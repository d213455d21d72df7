import fc from "fast-check";
import assert from "node:assert/strict";
import { distributionOfSamples } from "./distribution.ts";
import { usageSummaryOf } from "./usage_summary.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const WINDOW = { nowMs: 1_000_000, windowMs: 1_000_000 };

function distribution(values: readonly number[]) {
  return distributionOfSamples(values.map((value, index) => ({ value, atMs: 1 + index })), WINDOW);
}

pure("usageSummaryOf() keeps the percentiles that recommendations are made of", () => {
  const cpu = distribution([100, 200, 300]);
  const memory = distribution([1000]);
  assert.deepEqual(usageSummaryOf({ container: "app", cpu, memory }), {
    container: "app",
    cpu: { samples: 3, min: 100, p50: 200, p90: 280, p95: 290, p99: 298, max: 300 },
    memory: { samples: 1, min: 1000, p50: 1000, p90: 1000, p95: 1000, p99: 1000, max: 1000 },
  });
});

pure("usageSummaryOf() leaves out what has no samples", () => {
  const [some, none] = [distribution([5]), distribution([])];
  const cpu = usageSummaryOf({ container: "app", cpu: some, memory: none });
  assert.deepEqual(Object.keys(cpu), ["container", "cpu"]);
  const memory = usageSummaryOf({ container: "app", cpu: none, memory: some });
  assert.deepEqual(Object.keys(memory), ["container", "memory"]);
  const neither = usageSummaryOf({ container: "app", cpu: none, memory: none });
  assert.deepEqual(neither, { container: "app" });
});

pure("usageSummaryOf() is in order and in whole numbers, whatever was seen", () => {
  const value = fc.double({ min: 0, max: 1e300, noNaN: true });
  fc.assert(
    fc.property(fc.array(value, { minLength: 1, maxLength: 50 }), (values) => {
      const some = distribution(values);
      const { cpu } = usageSummaryOf({ container: "app", cpu: some, memory: some });
      assert.ok(cpu !== undefined);
      const { samples, min, p50, p90, p95, p99, max } = cpu;
      const figures = [min, p50, p90, p95, p99, max];
      assert.equal(samples, values.length);
      assert.deepEqual(figures, figures.toSorted((a, b) => a - b));
      assert.ok(figures.every(Number.isSafeInteger));
    }),
  );
});

import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { scaledTo, usageHistory } from "./usage_history.ts";

const CPU = { name: "f", resource: "cpu" } as const;

pure("usageHistory() keeps gaps, and takes the most frequent distance for the step", () => {
  const { atMs, values, stepMs } = usageHistory(
    [0, 60, 120, 600, 660].map((atS) => ({ atS, value: atS / 1000 })),
    CPU,
  );
  assert.equal(stepMs, 60_000);
  assert.deepEqual([...atMs], [0, 60_000, 120_000, 600_000, 660_000]);
  assert.deepEqual([...values], [0, 60, 120, 600, 660]);
});

pure("usageHistory() takes the shorter of two distances that are as frequent", () => {
  const samples = [0, 30, 90].map((atS) => ({ atS, value: 1 }));
  assert.equal(usageHistory(samples, CPU).stepMs, 30_000);
});

pure("usageHistory() leaves bytes as they are", () => {
  const samples = [0, 60].map((atS) => ({ atS, value: 2 ** 30 }));
  const { values } = usageHistory(samples, { name: "f", resource: "memory" });
  assert.deepEqual([...values], [2 ** 30, 2 ** 30]);
});

pure("scaledTo() keeps the shape and sets the 95th percentile", () => {
  const samples = Array.from({ length: 101 }, (_, index) => ({ atS: 60 * index, value: index }));
  const scaled = scaledTo(usageHistory(samples, CPU), 1000);
  assert.ok(Math.abs((scaled.values[95] ?? 0) - 1000) < 1e-9);
  assert.ok(Math.abs((scaled.values[19] ?? 0) - 200) < 1e-9);
});

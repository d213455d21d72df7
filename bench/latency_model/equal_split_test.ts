import assert from "node:assert/strict";
import { risingRoot, runsFigures } from "./equal_split.ts";

Deno.test({
  name: "runsFigures() gives medians, the range of the P99 and how it goes with throughput",
  permissions: "none",
  fn() {
    const runs = [
      { completed: 1, meanMs: 10, spreadMs: 5, p99Ms: 20 },
      { completed: 0.9, meanMs: 100, spreadMs: 80, p99Ms: 400 },
      { completed: 0.8, meanMs: 1000, spreadMs: 900, p99Ms: 3000 },
    ];
    // Between ranks: 20 + 0.1 × 380 and 3000 - 0.1 × 2600.
    const { p99Range, ...medians } = runsFigures(runs);
    assert.deepEqual(p99Range.map(Math.round), [58, 2740]);
    assert.deepEqual(medians, {
      completed: 0.9,
      meanMs: 100,
      spreadMs: 80,
      p99Ms: 400,
      tail: 3,
      knee: -1,
    });
  },
});

Deno.test({
  name: "risingRoot() finds where a rising function crosses 0, in steps too",
  permissions: "none",
  fn() {
    assert.ok(Math.abs(risingRoot((x) => x * x - 2, [0, 4]) - Math.SQRT2) < 1e-3);
    assert.ok(Math.abs(risingRoot((x) => Math.floor(x) - 2.5, [0, 4]) - 3) < 1e-3);
  },
});

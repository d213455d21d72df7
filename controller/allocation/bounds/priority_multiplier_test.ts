import assert from "node:assert/strict";
import fc from "fast-check";
import { clampMultiplier, priorityMultiplier } from "./priority_multiplier.ts";

const permissions = "none" as const;

Deno.test({
  name: "priorityMultiplier() has the worked values",
  permissions,
  fn() {
    const cases = [[-1, 0.5], [0, 1], [1000, 1], [2000, 1.5], [4000, 2]] as const;
    for (const [priority, expected] of cases) {
      assert.equal(priorityMultiplier(priority), expected, `priority ${priority}`);
    }
    assert.equal(priorityMultiplier(1_000_000).toFixed(1), "6.0");
    assert.equal(priorityMultiplier(2_000_001_000), 10);
  },
});

Deno.test({
  name: "priorityMultiplier() never falls with the priority and stays within 0.1 and 10",
  permissions,
  fn() {
    const priority = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
    fc.assert(fc.property(priority, priority, (a, b) => {
      const [low, high] = [priorityMultiplier(Math.min(a, b)), priorityMultiplier(Math.max(a, b))];
      assert.ok(0.1 <= low && low <= high && high <= 10);
    }));
  },
});

Deno.test({
  name: "clampMultiplier() holds values within 0.1 and 10",
  permissions,
  fn() {
    assert.deepEqual([0, 0.1, 3, 10, 11].map(clampMultiplier), [0.1, 0.1, 3, 10, 10]);
  },
});

import assert from "node:assert/strict";
import { levelChanges } from "./level_change.ts";

Deno.test({
  name: "levelChanges() reports each change with the levels around it and how long it lasts",
  permissions: "none",
  fn() {
    assert.deepEqual(levelChanges([1, 1, 4, 1], 1), [
      { atS: 2, untilS: 3, from: 1, to: 4 },
      { atS: 3, untilS: 4, from: 4, to: 1 },
    ]);
    assert.deepEqual(levelChanges([1, 2], 0.5), [{ atS: 0.5, untilS: 1, from: 1, to: 2 }]);
    assert.deepEqual(levelChanges([3, 3, 3], 1), []);
    assert.deepEqual(levelChanges([], 1), []);
  },
});

import assert from "node:assert/strict";
import { splitBar } from "./placement_detail.ts";

Deno.test("splitBar() shows what is there, too many and missing", () => {
  const bar = (actual: number, desired: number) => splitBar({ actual, desired }, { most: 5 });
  assert.deepEqual([bar(3, 5), bar(5, 3), bar(2, 2), bar(0, 1), bar(0, 0)], [
    "███··",
    "███▒▒",
    "██",
    "·",
    "",
  ]);
});

Deno.test("splitBar() fits thousands of replicas in, and hides none of the three", () => {
  assert.equal(splitBar({ actual: 999, desired: 1000 }, { most: 1000 }), `${"█".repeat(30)}·`);
  assert.ok(splitBar({ actual: 600, desired: 400 }, { most: 600 }).length <= 31);
});

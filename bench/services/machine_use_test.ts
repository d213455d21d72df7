import assert from "node:assert/strict";
import { busyTime } from "./machine_use.ts";

Deno.test("busyTime() sums all but idle time and guests' own", () => {
  const stat = "cpu  100 10 50 9000 700 3 7 30 20 5\ncpu0 1 1 1 1 1 1 1 1 1 1\n";
  assert.equal(busyTime(stat), 2000);
});

Deno.test("busyTime() refuses a text without the line", () => {
  assert.throws(() => busyTime("intr 5\n"), { name: "SyntaxError" });
});

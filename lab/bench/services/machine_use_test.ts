import assert from "node:assert/strict";
import { busyTime, stolenShare } from "./machine_use.ts";

Deno.test("busyTime() sums all but idle time and guests' own", () => {
  const stat = "cpu  100 10 50 9000 700 3 7 30 20 5\ncpu0 1 1 1 1 1 1 1 1 1 1\n";
  assert.equal(busyTime(stat), 2000);
});

Deno.test("busyTime() refuses a text without the line", () => {
  assert.throws(() => busyTime("intr 5\n"), { name: "SyntaxError" });
});

Deno.test("stolenShare() is of the time in which programs wanted to run", () => {
  const stat = (user: number, idle: number, stolen: number): string =>
    `cpu  ${user} 0 0 ${idle} 0 0 0 ${stolen} 0 0\n`;
  assert.equal(stolenShare(stat(100, 100, 10), stat(190, 1000, 20)), 0.1);
  assert.equal(stolenShare(stat(1, 1, 1), stat(1, 9, 1)), 0);
});

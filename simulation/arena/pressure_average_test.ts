import assert from "node:assert/strict";
import { someAvg10 } from "./pressure_average.ts";

Deno.test({
  name: "someAvg10() rises and falls as the kernel's average does",
  permissions: "none",
  fn() {
    // Waiting for 6 s, then not at all; at 1 s.
    const waited = Float32Array.of(1000, 1000, 1000, 1000, 1000, 1000, 0, 0, 0);
    const percent = [...someAvg10(waited, 1)].map((value) => Number(value.toFixed(1)));
    assert.deepEqual(percent, [18.1, 33.0, 45.1, 36.9]);
  },
});

Deno.test({
  name: "someAvg10() takes the mean of each two seconds",
  permissions: "none",
  fn() {
    const half = Float32Array.from({ length: 400 }, (_, step) => step % 2 === 0 ? 1000 : 0);
    assert.ok(Math.abs((someAvg10(half, 0.1).at(-1) ?? 0) - 50) < 2);
    assert.equal(someAvg10(new Float32Array(19), 0.1).length, 0);
  },
});

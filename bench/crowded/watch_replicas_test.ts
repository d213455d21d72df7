import assert from "node:assert/strict";
import { lateMedian } from "./watch_replicas.ts";

Deno.test("lateMedian() is of the last half alone", () => {
  const samples = [1, 1, 1, 1, 4, 4, 6].map((wanted, index) => ({
    atS: 5 * index,
    wanted,
    ready: 1,
  }));
  assert.equal(lateMedian(samples), 4);
  assert.equal(lateMedian(samples.slice(0, 3)), 1);
});

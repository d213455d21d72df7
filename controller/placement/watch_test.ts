import assert from "node:assert/strict";
import { createDepartureTimes } from "./watch.ts";

Deno.test("createDepartureTimes() keeps the time of a sign while it stays, and not of another", () => {
  let now = 5;
  const times = createDepartureTimes(() => now++);
  const since = (sign: string) => times.sinceMs("a", sign);
  for (let seen = 0; seen < 2; seen++) {
    times.observe("a", "taint x");
    assert.deepEqual([since("taint x"), times.sinceMs("b", "taint x")], [5, 6]);
  }
  times.observe("a", "taint y");
  assert.equal(since("taint y"), 7);
  times.observe("a", undefined);
  assert.equal(since("taint y"), 8);
});

import assert from "node:assert/strict";
import { standingTime } from "./standing_time.ts";

const times = (...values: number[]) => Float64Array.from(values);

Deno.test("standingTime() is the wall time of a lone request less its cost", () => {
  // Taken before it came: its thread waited for it.
  const served = { atMs: times(10), costMs: times(8), takenMs: times(0), doneMs: times(30) };
  assert.equal(standingTime(served, { cores: 2, endMs: 100 }), 12);
});

Deno.test("standingTime() counts no more threads than there are CPUs", () => {
  const served = {
    atMs: times(0, 0, 0),
    costMs: times(10, 10, 10),
    takenMs: times(0, 0, 0),
    doneMs: times(100, 100, 100),
  };
  assert.equal(standingTime(served, { cores: 2, endMs: 100 }), 170);
});

Deno.test("standingTime() leaves out what was not done by the end, and what waited in the queue", () => {
  const served = {
    atMs: times(0, 0, 5),
    costMs: times(10, 10, 1),
    takenMs: times(0, 10, NaN),
    doneMs: times(10, 20, NaN),
  };
  assert.equal(standingTime(served, { cores: 2, endMs: 100 }), 0);
  assert.equal(standingTime(served, { cores: 2, endMs: 15 }), 0);
});

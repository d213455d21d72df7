import assert from "node:assert/strict";
import { jainIndex, satisfaction } from "./satisfaction.ts";

Deno.test({
  name: "jainIndex() is 1 for equals, 1/n for one that has everything, 0.9 for 1 and 2",
  permissions: "none",
  fn() {
    assert.equal(jainIndex([0.5, 0.5, 0.5]), 1);
    assert.equal(jainIndex([1, 0, 0, 0]), 0.25);
    assert.equal(jainIndex([1, 2]), 0.9);
    assert.equal(jainIndex([]), 1);
    assert.equal(jainIndex([0, 0]), 1);
  },
});

Deno.test({
  name: "satisfaction() is the mean over the minutes of CPU got / CPU wanted, each at most 1",
  permissions: "none",
  fn() {
    const minutes = (...values: number[]) =>
      Float32Array.from(values.flatMap((value) => new Array<number>(60).fill(value)));
    // 0.5, then more than wanted, then nothing wanted; 30 s that are no whole minute do not count.
    const demand = Float32Array.from([...minutes(200, 100, 0), ...minutes(900).subarray(30)]);
    const usage = Float32Array.from([...minutes(100, 200, 50), ...minutes(0).subarray(30)]);
    assert.equal(satisfaction({ demand, usage }, 1), 0.75);
    assert.equal(satisfaction({ demand: minutes(0), usage: minutes(0) }, 1), 1);
  },
});

Deno.test({
  name: "satisfaction() takes a run of under a minute as one window",
  permissions: "none",
  fn() {
    const demand = Float32Array.of(100, 100);
    assert.equal(satisfaction({ demand, usage: Float32Array.of(100, 20) }, 1), 0.6);
  },
});

import assert from "node:assert/strict";
import { backlog, drainTime } from "./drain_time.ts";

Deno.test({
  name: "backlog() sums what came and was not done, in ms of CPU",
  permissions: "none",
  fn() {
    const demand = Float32Array.of(1000, 2000, 0, 0);
    const usage = Float32Array.of(1000, 500, 1000, 500);
    // 2000 m - 500 m over 0.1 s leave 150 ms.
    assert.deepEqual([...backlog({ demand, usage }, 0.1)].map(Math.round), [0, 150, 50, 0]);
  },
});

/** One entry a second: nothing open but between 20 s and `until`. */
function drained(open: number, { until = 25, before = 0 } = {}): number | undefined {
  const entries = Float64Array.from(
    { length: 60 },
    (_, second) => second >= 20 && second < until ? open : second < 20 ? before : 0,
  );
  const change = { atS: 20, untilS: 30, from: 1, to: 4 };
  return drainTime(entries, { change, stepS: 1, untilS: 50 });
}

Deno.test({
  name: "drainTime() lasts until no more is open than comes in a period",
  permissions: "none",
  fn() {
    // Entry 25 stands for 26 s and is the first at or below 4 CPUs x 100 ms.
    assert.equal(drained(500), 6);
    assert.equal(drained(500, { until: 40 }), 21);
    assert.equal(drained(400), 0);
  },
});

Deno.test({
  name: "drainTime() compares with what was open before, and is undefined when it does not end",
  permissions: "none",
  fn() {
    assert.equal(drained(500, { before: 600 }), 0);
    assert.equal(drained(500, { until: 50 }), undefined);
  },
});

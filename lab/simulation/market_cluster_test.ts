import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { createLatencyHistogram } from "./node/latency_histogram.ts";
import { commitment } from "./market_cluster.ts";
import type { PodSeries } from "./run_record.ts";

function pod(limit: readonly number[], demand: readonly number[]): PodSeries {
  return {
    uid: "u",
    name: "p",
    trace: "t",
    request: 100,
    originalLimit: 200,
    weight: 100,
    floor: 100,
    ceiling: 1000,
    limit: Float32Array.from(limit),
    demand: Float32Array.from(demand),
    usage: new Float32Array(limit.length),
    throttled: new Float32Array(limit.length),
    waited: new Float32Array(limit.length),
    latency: createLatencyHistogram(),
  };
}

function judge(...pods: PodSeries[]) {
  return commitment({ pods, stepS: 1, capacity: 1000 });
}

pure("commitment() counts a limit above its floor, else the lesser of floor and demand", () => {
  assert.equal(judge(pod([600], [0]), pod([100], [30]), pod([100], [500])).peak, 730);
});

pure("commitment() averages demand over the last second", () => {
  const pods = [pod([100, 100, 100, 100], [0, 100, 0, 0])];
  assert.equal(commitment({ pods, stepS: 0.5, capacity: 1000 }).peak, 50);
});

pure("commitment() counts from a raise beyond capacity until the sum is back within it", () => {
  // 1000, then 1200 by a raise, still 1200, 1100 after a decrease, 900.
  const found = judge(pod([500, 700, 700, 600, 400], []), pod([500, 500, 500, 500, 500], []));
  assert.deepEqual(found, { peak: 1200, overCapacityS: 3 });
});

pure("commitment() exempts limits found at the start and demand that grows by itself", () => {
  assert.equal(judge(pod([900, 800, 500], []), pod([900, 800, 400], [])).overCapacityS, 0);
  // A raise within capacity, then an idle pod starts to use its floor: no raise granted that.
  const late = judge(pod([900, 950, 950], []), pod([100, 100, 100], [0, 20, 100]));
  assert.deepEqual(late, { peak: 1050, overCapacityS: 0 });
  // But a raise on top of what was found counts.
  assert.equal(judge(pod([900, 900, 900], []), pod([300, 350, 350], [])).overCapacityS, 2);
});

pure(
  "commitment() of no pods is 0",
  () => assert.deepEqual(judge(), { peak: 0, overCapacityS: 0 }),
);

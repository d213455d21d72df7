import assert from "node:assert/strict";
import { pure } from "../../../tests/fixtures/pure.ts";
import { feedFor, feedRival } from "../../../tests/fixtures/lab/fed_rival.ts";
import { ceilingLimit, k8sCpu, k8sCpuFast, limitOfP90, requestTimes } from "./static_limit.ts";
import type { Rival } from "./rival.ts";

const SCENE = { pods: [{ request: 300, p90Demand: 200 }, { request: 50, p90Demand: 400 }] };

pure("requestTimes() sets each limit to its request times the factor, whatever is used", () => {
  const look = feedRival(requestTimes(4), SCENE);
  assert.deepEqual(look({ usage: 900 }), [4 * 300, 4 * 50]);
  assert.deepEqual(look({ usage: 1, throttledPeriods: 9 }), [4 * 300, 4 * 50]);
});

pure("ceilingLimit() sets the whole node for each pod", () => {
  assert.equal(ceilingLimit().setting, "ceiling");
  assert.deepEqual(feedRival(ceilingLimit(), { ...SCENE, node: { cpu: 6000 } })(), [6000, 6000]);
});

pure("limitOfP90() sets the known percentile and 15 % more", () => {
  assert.deepEqual(feedRival(limitOfP90(), SCENE)(), [200 * 1.15, 400 * 1.15]);
});

pure("ceilingLimit() sets a limit at the first reading", () => {
  const pod = { request: 1, originalLimit: 1, floor: 1, ceiling: 1, weight: 1, p90Demand: 1 };
  assert.deepEqual(ceilingLimit().start([pod], { cpu: 4000, capacity: 1 }).look(0, []), [4000]);
});

function followsHighestUsage(rival: Rival): void {
  const look = feedRival(rival);
  assert.deepEqual(look({ usage: 100 }), [100 / 0.5]);
  assert.deepEqual(look({ usage: 300 }), [300 / 0.5]);
  // The peak and 19 more decisions are the window of 20.
  assert.deepEqual(feedFor(look, { looks: 19, pods: [{ usage: 50 }] }), [300 / 0.5]);
  assert.deepEqual(look({ usage: 50 }), [50 / 0.5]);
}

pure("k8sCpu() sets the highest usage of 300 s over the target, every 15 s", () => {
  assert.equal(k8sCpu(0.5).lookMs, 15_000);
  followsHighestUsage(k8sCpu(0.5));
});

pure("k8sCpuFast() sets the highest usage of 20 s over the target, every second", () => {
  assert.equal(k8sCpuFast(0.5).lookMs, 1000);
  followsHighestUsage(k8sCpuFast(0.5));
});

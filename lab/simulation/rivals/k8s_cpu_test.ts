import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { feedFor, feedRival } from "../../../tests/fixtures/lab/fed_rival.ts";
import { k8sCpu, k8sCpuFast } from "./k8s_cpu.ts";
import type { Rival } from "./rival.ts";

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

import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { createLatencyHistogram, recordLatency } from "./node/latency_histogram.ts";
import type { PodSeries } from "./run_record.ts";
import { jainIndex, satisfaction, scoreRun } from "./scores.ts";

/** 60 s at ten steps a second, with a burst to 400 m in the seconds 20 to 25 and 40 to 45. */
function pod(name: string, raises: readonly number[], latencyMs: number): PodSeries {
  const steps = 600;
  const bursting = (step: number): boolean =>
    (step >= 200 && step < 250) || (step >= 400 && step < 450);
  const latency = createLatencyHistogram();
  for (let count = 0; count < 99; count++) recordLatency(latency, latencyMs);
  recordLatency(latency, 100 * latencyMs);
  return {
    uid: name,
    name,
    trace: "made up",
    request: 100,
    originalLimit: 150,
    weight: 100,
    floor: 100,
    ceiling: 1000,
    demand: Float32Array.from({ length: steps }, (_, step) => bursting(step) ? 400 : 100),
    // Raised to 500 m at the given steps, and back to 150 m a hundred steps later.
    limit: Float32Array.from(
      { length: steps },
      (_, step) => raises.some((raise) => step >= raise && step < raise + 100) ? 500 : 150,
    ),
    usage: new Float32Array(steps).fill(75),
    throttled: new Float32Array(steps).fill(40),
    waited: new Float32Array(steps).fill(20),
    latency,
  };
}

function score(...pods: PodSeries[]) {
  return scoreRun({
    stepS: 0.1,
    nodeCPU: 8000,
    capacity: 7200,
    pods,
    price: new Float32Array(0),
    changes: [
      { atS: 20, pod: "a", from: 150, to: 500, reason: "Throttled" },
      { atS: 30, pod: "a", from: 500, to: 150, reason: "DemandFell" },
      { atS: 40, pod: "a", from: 150, to: 500, reason: "Throttled" },
    ],
  });
}

pure("scoreRun() sums means over pods and takes latencies over all requests", () => {
  const scores = score(pod("a", [204, 406], 10), pod("b", [], 10));
  assert.ok(Math.abs(scores.throttledMsPerS - 80) < 1e-9);
  assert.ok(Math.abs(scores.coresUsed - 0.15) < 1e-9);
  // 0.15 each, and a third of the time 0.35 more.
  assert.ok(Math.abs(scores.coresAllocated - (0.3 + 0.35 / 3)) < 1e-6);
  assert.equal(scores.changesPerPodMinute, 1.5);
  assert.ok(Math.abs(scores.p50Ms / 10 - 1) < 0.01);
  assert.ok(Math.abs(scores.p99Ms / 10 - 1) < 0.01);
  assert.ok(Math.abs(scores.p999Ms / 1000 - 1) < 0.01);
  // Both used half of the 150 m that they wanted on average.
  assert.equal(scores.jain, 1);
  assert.ok(Math.abs(scores.peakCommitted - 0.65) < 1e-6);
});

pure("scoreRun() takes reactions over all bursts, a missed one with its length", () => {
  // Bursts begin at steps 198 and 398: reactions of 0.6 and 0.8 s.
  const quick = score(pod("a", [204, 406], 10));
  assert.deepEqual([quick.bursts, quick.burstsMissed], [2, 0]);
  assert.equal(quick.reactionMsMedian, 700);
  assert.equal(quick.reactionMsP95, 790);
  // The second is missed and lasts from step 398 to 451: 5.3 s.
  const half = score(pod("a", [204], 10));
  assert.deepEqual([half.bursts, half.burstsMissed], [2, 1]);
  assert.equal(half.reactionMsMedian, (600 + 5300) / 2);
  const none = score(pod("a", [], 10));
  assert.deepEqual([none.bursts, none.burstsMissed], [2, 2]);
  assert.equal("reactionMsMedian" in none, false);
});

pure("jainIndex() is 1 for equals, 1/n for one that has everything, 0.9 for 1 and 2", () => {
  assert.equal(jainIndex([0.5, 0.5, 0.5]), 1);
  assert.equal(jainIndex([1, 0, 0, 0]), 0.25);
  assert.equal(jainIndex([1, 2]), 0.9);
  assert.equal(jainIndex([]), 1);
  assert.equal(jainIndex([0, 0]), 1);
});

pure("satisfaction() is the mean over the minutes of CPU got / CPU wanted, each at most 1", () => {
  const minutes = (...values: number[]) =>
    Float32Array.from(values.flatMap((value) => new Array<number>(60).fill(value)));
  // 0.5, then more than wanted, then nothing wanted; 30 s that are no whole minute do not count.
  const demand = Float32Array.from([...minutes(200, 100, 0), ...minutes(900).subarray(30)]);
  const usage = Float32Array.from([...minutes(100, 200, 50), ...minutes(0).subarray(30)]);
  assert.equal(satisfaction({ demand, usage }, 1), 0.75);
  assert.equal(satisfaction({ demand: minutes(0), usage: minutes(0) }, 1), 1);
});

pure("satisfaction() takes a run of under a minute as one window", () => {
  const demand = Float32Array.of(100, 100);
  assert.equal(satisfaction({ demand, usage: Float32Array.of(100, 20) }, 1), 0.6);
});

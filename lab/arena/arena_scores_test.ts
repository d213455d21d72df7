import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { createLatencyHistogram, recordLatency } from "../simulation/node/latency_histogram.ts";
import type { PodSeries, RunSeries } from "../simulation/run_record.ts";
import { scoreArena } from "./arena_scores.ts";

/** 300 s at ten steps a second: 100 m, from 100 s to 110 s 400 m; the limit follows at 100.5 s. */
function run(pod: Partial<PodSeries> = {}, count = 1): RunSeries {
  const steps = 3000;
  const bursting = (step: number) => step >= 1000 && step < 1100;
  const series: PodSeries = {
    uid: "a",
    name: "a",
    trace: "made up",
    request: 100,
    originalLimit: 200,
    weight: 100,
    floor: 100,
    ceiling: 1000,
    demand: Float32Array.from({ length: steps }, (_, step) => bursting(step) ? 400 : 100),
    limit: Float32Array.from({ length: steps }, (_, step) => step >= 1004 ? 500 : 200),
    usage: new Float32Array(steps).fill(100),
    throttled: new Float32Array(steps),
    waited: new Float32Array(steps).fill(100),
    latency: createLatencyHistogram(),
    ...pod,
  };
  return {
    stepS: 0.1,
    nodeCPU: 4000,
    capacity: 3600,
    pods: Array.from({ length: count }, () => series),
    price: new Float32Array(0),
    changes: [
      { atS: 100.4, pod: "a", from: 200, to: 500 },
      { atS: 200, pod: "a", from: 500, to: 400 },
      { atS: 201, pod: "a", from: 400, to: 500 },
    ],
  };
}

function near(actual: number | undefined, expected: number, within = 1e-6): void {
  assert.ok(
    actual !== undefined && Math.abs(actual - expected) <= within,
    `${actual} is not ${expected}`,
  );
}

pure(
  "scoreArena() relates usage to limits and node, and counts reversals per pod and 5 min",
  () => {
    const scores = scoreArena(run());
    // 200 m for 100.4 s and 500 m for 199.6 s are 399.6 m on average.
    near(scores.coresAllocated, 0.3996, 1e-5);
    near(scores.slack, 1 - 100 / 399.6, 1e-5);
    near(scores.utilisation, 0.025);
    assert.equal(scores.reversalsPer5Min, 2);
    assert.equal(scoreArena(run({}, 2)).reversalsPer5Min, 1);
    // A tenth of the time, long enough to reach the average's end.
    near(scores.psiPeak, 10, 1e-3);
    assert.ok(scores.psiMean < 10 && scores.psiMean > 9.5);
    assert.equal(scores.envy, 0);
    assert.equal(scores.floorViolationS, 0);
  },
);

pure("scoreArena() measures from the moments that are known", () => {
  const burst = { atS: 100, untilS: 110, from: 0.1, to: 0.4 };
  const step = { atS: 100, untilS: 300, from: 0.1, to: 0.5 };
  const scores = scoreArena(run(), { bursts: [burst], steps: [step] });
  assert.equal(scores.bursts, 1);
  assert.equal(scores.burstsMissed, 0);
  assert.equal(scores.reactionMsMedian, 500);
  assert.equal(scores.reactionMsP95, 500);
  // 3000 ms of CPU stay open: the queue is never drained.
  near(scores.drainSMedian, 200);
  near(scores.convergeS, 0.5);
  assert.equal(scores.stepsUnconverged, 0);
});

pure("scoreArena() counts a missed burst and a step without end with their length", () => {
  const limit = Float32Array.from({ length: 3000 }, (_, step) => step % 200 < 100 ? 200 : 300);
  const scores = scoreArena(run({ limit }), {
    bursts: [{ atS: 100, untilS: 110, from: 0.1, to: 0.4 }],
    steps: [{ atS: 100, untilS: 250, from: 0.1, to: 0.5 }],
  });
  assert.equal(scores.burstsMissed, 1);
  assert.equal(scores.reactionMsMedian, 10_000);
  assert.equal(scores.stepsUnconverged, 1);
  assert.equal(scores.convergeS, 150);
});

pure("scoreArena() counts the seconds below floors", () => {
  const limit = Float32Array.from({ length: 3000 }, (_, step) => step < 20 ? 90 : 100);
  near(scoreArena(run({ limit })).floorViolationS, 2);
  near(scoreArena(run({ limit }, 2)).floorViolationS, 4);
});

pure("scoreArena() takes the P99 of victims from what ended during contention", () => {
  assert.equal("victimsP99Ms" in scoreArena(run()), false);
  const contendedLatency = createLatencyHistogram();
  recordLatency(contendedLatency, 80);
  near((scoreArena(run({ contendedLatency })).victimsP99Ms ?? 0) / 80, 1, 0.02);
});

pure("scoreArena() counts writes of all pods, and bursts of the pods that have them", () => {
  const burst = { atS: 100, untilS: 110, from: 0.1, to: 0.4 };
  const scores = scoreArena(run(), { bursts: [burst, { ...burst, pod: "b" }] });
  near(scores.writesPerMinute, 3 / 5);
  assert.equal(scores.bursts, 1);
});

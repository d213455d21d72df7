import assert from "node:assert/strict";
import { pure } from "../../tests/fixtures/pure.ts";
import { createLatencyHistogram } from "../simulation/node/latency_histogram.ts";
import type { PodSeries, RunSeries } from "../simulation/run_record.ts";
import { scoreArena } from "./arena_scores.ts";
import { convergence, drainTime, knownReaction, largestEnvy, someAvg10 } from "./measures.ts";
import { outcome, scores } from "../../tests/fixtures/lab/arena_outcomes.ts";
import { algorithmOutcome, bestPerAlgorithm, bestSetting } from "./outcome.ts";

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

pure("scoreArena() relates usage to limits and node, and counts reversals by 5 min", () => {
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
});

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

/** One entry a second; the load steps at 10 s and holds until 50 s. */
function took(limitAt: (second: number) => number): number | undefined {
  const limit = Float32Array.from({ length: 60 }, (_, second) => limitAt(second));
  return convergence({ limit }, { change: { atS: 10, untilS: 50, from: 1, to: 4 }, stepS: 1 });
}

pure("convergence() ends with the change that brings the limit to its final value", () => {
  const cases: readonly [limitAt: (second: number) => number, tookS: number | undefined][] = [
    // Entry 20 stands for 21 s.
    [(second) => second < 20 ? 100 : 400, 11],
    [(second) => second < 20 ? 100 : second < 30 ? 370 : 400, 11],
    [(second) => second < 20 ? 100 : second < 30 ? 300 : 400, 21],
    [(second) => second < 20 ? 100 : second === 25 ? 600 : 400, 17],
    // It was there, and no more counts than while the level holds.
    [() => 400, 0],
    [(second) => second < 50 ? 400 : 100, 0],
    [(second) => second % 2 === 0 ? 400 : 430, 0],
    // It still moves in the last quarter.
    [(second) => second === 45 ? 600 : 400, undefined],
    [(second) => 100 * second, undefined],
  ];
  for (const [limitAt, tookS] of cases) assert.equal(took(limitAt), tookS, `${limitAt}`);
});

pure("drainTime() lasts until no more is open than comes in a period, or was open before", () => {
  const change = { atS: 20, untilS: 30, from: 1, to: 4 };
  const cases: readonly [open: number, until: number, before: number, took: number | undefined][] =
    [
      // Entry 25 stands for 26 s and is the first at or below 4 CPUs x 100 ms.
      [500, 25, 0, 6],
      [500, 40, 0, 21],
      [400, 25, 0, 0],
      [500, 25, 600, 0],
      [500, 50, 0, undefined],
    ];
  for (const [open, until, before, took] of cases) {
    const at = (second: number) => second < 20 ? before : second < until ? open : 0;
    const entries = Float64Array.from({ length: 60 }, (_, second) => at(second));
    assert.equal(drainTime(entries, { change, stepS: 1, untilS: 50 }), took, `${open} ${until}`);
  }
});

pure("largestEnvy() is the share of demand that a pod would get of the other's CPU", () => {
  // CPU that each pod got and wanted in two minutes, and its weight.
  const cases: readonly [pods: readonly [number, number, number?][], envy: number][] = [
    // With 600 m in place of its 400 m the first would have a fifth of its 1000 m more.
    [[[400, 1000], [600, 1000]], 0.2],
    // It wants no more than 450 m.
    [[[400, 450], [600, 1000]], 0.111111],
    [[[500, 1000], [500, 1000]], 0],
    [[[300, 1000, 100], [600, 1000, 200]], 0],
    // The heavier one would have had twice 450 m.
    [[[450, 1000, 100], [450, 1000, 200]], 0.45],
    [[[1, 1000]], 0],
    [[[0, 0], [500, 500]], 0],
    [[], 0],
  ];
  for (const [pods, envy] of cases) {
    const series = pods.map(([got, wanted, weight = 100]) => ({
      usage: new Float32Array(120).fill(got),
      demand: new Float32Array(120).fill(wanted),
      weight,
    }));
    near(largestEnvy(series, 1), envy);
  }
});

pure("someAvg10() rises and falls as the kernel's average does", () => {
  // Waiting for 6 s, then not at all; at 1 s.
  const waited = Float32Array.of(1000, 1000, 1000, 1000, 1000, 1000, 0, 0, 0);
  const percent = [...someAvg10(waited, 1)].map((value) => Number(value.toFixed(1)));
  assert.deepEqual(percent, [18.1, 33.0, 45.1, 36.9]);
});

/** Ten steps a second: 100 m, and 400 m from 3.0 s to 6.0 s; the limit is 450 m from a step on. */
function reaction(raisedAt: number, { ceiling = 1000, atS = 3 } = {}) {
  const demand = Float32Array.from({ length: 100 }, (_, k) => k >= 30 && k < 60 ? 400 : 100);
  const limit = Float32Array.from({ length: 100 }, (_, k) => k >= raisedAt ? 450 : 150);
  const change = { atS, untilS: 6, from: 0.1, to: 0.4 };
  return knownReaction({ demand, limit, ceiling }, { change, stepS: 0.1 });
}

pure("knownReaction() counts from the burst to the end of the first step at its demand", () => {
  // Entry 34 stands for 3.5 s.
  const { reactionS, wanted, lengthS } = reaction(34);
  near(reactionS, 0.5);
  near(wanted, 400);
  near(lengthS, 3);
});

pure("knownReaction() is 0 where the limit was there, undefined where it never was", () => {
  assert.equal(reaction(0).reactionS, 0);
  assert.equal(reaction(29).reactionS, 0);
  near(reaction(30).reactionS, 0.1);
  near(reaction(59).reactionS, 3);
  assert.equal(reaction(60).reactionS, undefined);
});

pure("algorithmOutcome() takes medians and spread over the seeds", () => {
  const runs = [
    scores({ p99Ms: 90, coresAllocated: 3 }),
    scores({ p99Ms: 120, coresAllocated: 1, reactionMsMedian: 500 }),
    scores({ p99Ms: 100, coresAllocated: 2, reactionMsMedian: 700 }),
  ];
  const made = algorithmOutcome({ algorithm: "a", setting: "x" }, { runs, sloMs: 100 });
  assert.equal(made.median.coresAllocated, 2);
  assert.equal(made.least.coresAllocated, 1);
  assert.equal(made.most.coresAllocated, 3);
  assert.equal(made.sloHeld, true);
  assert.equal(made.sloHeldShare, 2 / 3);
  // The median of the seeds that have a reaction.
  assert.equal(made.median.reactionMsMedian, 600);
  assert.equal(made.median.convergeS, undefined);
});

pure("algorithmOutcome() holds the SLO where more than half of the seeds do", () => {
  const held = (...p99s: number[]) =>
    algorithmOutcome({ algorithm: "a", setting: "x" }, {
      runs: p99s.map((p99Ms) => scores({ p99Ms })),
      sloMs: 100,
    }).sloHeld;
  assert.equal(held(50, 110), false);
  assert.equal(held(50, 100), true);
  assert.equal(held(50, 100, 9000), true);
});

pure("bestSetting() is the cheapest of those that hold the SLO, else the quickest", () => {
  const cheap = outcome({ setting: "cheap", sloHeld: false, cores: 1, p99Ms: 300 });
  const good = outcome({ setting: "good", cores: 2, p99Ms: 90 });
  const dear = outcome({ setting: "dear", cores: 3, p99Ms: 50 });
  assert.equal(bestSetting([cheap, dear, good])?.setting, "good");
  const slow = outcome({ setting: "slow", sloHeld: false, cores: 0.5, p99Ms: 400 });
  assert.equal(bestSetting([slow, cheap])?.setting, "cheap");
  assert.equal(bestSetting([]), undefined);
});

pure("bestPerAlgorithm() keeps the order of the algorithms", () => {
  const best = bestPerAlgorithm([
    outcome({ algorithm: "b", setting: "1", cores: 2 }),
    outcome({ algorithm: "a", setting: "1", cores: 1 }),
    outcome({ algorithm: "b", setting: "2", cores: 1 }),
  ]);
  assert.deepEqual(best.map(({ algorithm, setting }) => algorithm + setting), ["b2", "a1"]);
});

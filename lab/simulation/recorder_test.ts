import assert from "node:assert/strict";
import type { ContainerResult, RoundResult } from "../../agent/market/round.ts";
import type { MarketReason } from "../../shared/api/reasons/market_reasons.ts";
import { seededRandom } from "../../shared/random.ts";
import { endlessWork } from "./workload.ts";
import { requests } from "../../tests/fixtures/lab/one_pod_node.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { createLatencyHistogram, recordLatency } from "./node/latency_histogram.ts";
import { SimulatedNode } from "./node/simulated_node.ts";
import { assembleRecord, createDecisionLog, createRecorder, type Recorder } from "./recorder.ts";
import type { PodSeries, RecordedPod } from "./run_record.ts";
import { type BurstInput, commitment, findBursts, scoreRun } from "./scores.ts";

const POD: RecordedPod = {
  ...{ uid: "u", name: "web", trace: "made up", request: 100, originalLimit: 200, weight: 100 },
  ...{ floor: 100, ceiling: 1000 },
};

/** The series of that pod: it uses nothing and waits for nothing. */
function seriesOf(change: Partial<PodSeries> & Pick<PodSeries, "limit" | "demand">): PodSeries {
  const none = () => new Float32Array(change.limit.length);
  const nothing = { usage: none(), throttled: none(), waited: none() };
  return { ...POD, ...nothing, latency: createLatencyHistogram(), ...change };
}

/** One pod with a thread that is always busy: 2 s at 200 m, then 2 s at 700 m. */
function record(): Recorder {
  const node = new SimulatedNode({ cores: 2, random: seededRandom(1) });
  node.addPod({
    uid: "u",
    phaseMs: 0,
    containers: [{ id: "c", request: 100, limit: 200, threads: 1, workload: endlessWork(1) }],
  });
  const recorder = createRecorder(node, { pods: [POD], capacity: 1800, seconds: 4 });
  for (let ms = 100; ms <= 4000; ms += 100) {
    node.advance(ms);
    recorder.sample();
    if (ms === 2000) {
      node.setContainerQuota("c", 700);
      node.setPodQuota("u", 700);
      recorder.change({ atS: 2, pod: "web", from: 200, to: 700, reason: "Throttled" });
    }
  }
  return recorder;
}

pure("assembleRecord() thins the series and scores the run", () => {
  const run = assembleRecord(record().series(), { algorithm: "test", description: "", seed: 1 });
  const [pod] = run.pods;
  assert.ok(pod);
  assert.deepEqual(pod.limit, [200, 200, 700, 700]);
  [200, 200, 700, 700].forEach((limit, s) => assert.ok(Math.abs(run.sumUsage[s]! - limit) <= 4));
  assert.deepEqual(pod.demand, [1000, 1000, 1000, 1000]);
  assert.equal(run.minutes, 4 / 60);
  assert.equal(pod.changes, 1);
  const { scores } = run;
  // Pauses so far: 20 of 80 ms and 19 of 30 ms in 4 s, up to what is used on credit.
  assert.ok(Math.abs(scores.throttledMsPerS - (20 * 80 + 19 * 30) / 4) <= 1);
  assert.ok(Math.abs(scores.coresAllocated - 0.45) < 1e-6);
  assert.ok(Math.abs(scores.coresUsed - 0.45) <= 1e-3);
  assert.equal(scores.changesPerPodMinute, 15);
  assert.equal(scores.jain, 1);
  assert.ok(Math.abs(scores.peakCommitted - 0.7) < 1e-6);
  assert.deepEqual([scores.bursts, scores.burstsMissed, scores.overCapacityS], [0, 0, 0]);
  assert.equal("reactionMsMedian" in scores, false);
});

pure("assembleRecord() takes a run without pods", () => {
  const node = new SimulatedNode({ cores: 2, random: seededRandom(1) });
  const recorder = createRecorder(node, { pods: [], capacity: 1800, seconds: 1 });
  recorder.sample();
  const options = { algorithm: "static", description: "", seed: 1 };
  const run = assembleRecord(recorder.series(), options);
  assert.deepEqual([run.pods, run.scores.jain], [[], 1]);
});

pure("createRecorder() keeps latencies of victims during contention apart", () => {
  const node = new SimulatedNode({ cores: 2, random: seededRandom(1) });
  const times = Array.from({ length: 40 }, (_, index) => 50 + 100 * index);
  const containers = [{ id: "c", request: 100, threads: 1, workload: requests(times, 1) }];
  node.addPod({ uid: "u", phaseMs: 0, containers });
  const contention = { victims: ["web"], fromS: 1, untilS: 3 };
  const options = { pods: [POD], capacity: 1800, seconds: 4, contention };
  const recorder = createRecorder(node, options);
  for (let ms = 100; ms <= 4000; ms += 100) {
    node.advance(ms);
    recorder.sample();
  }
  const [pod] = recorder.series().pods;
  assert.equal(pod?.latency.total, 40);
  assert.equal(pod?.contendedLatency?.total, 20);
});

/** A round that moved one container; of the rest only what the log reads. */
function round(limit: number, changedFor: MarketReason | undefined, price = 0.25): RoundResult {
  const participant = {
    participant: { containerID: "aa" },
    limit,
    changedFor,
  } as unknown as ContainerResult;
  return { price, containers: [participant] } as unknown as RoundResult;
}

pure("createDecisionLog() reports why a limit was wanted, and at what price", () => {
  const log = createDecisionLog();
  log.note(round(300, "Throttled"));
  log.note(round(200, "DemandFell", Infinity));
  log.note(round(200, undefined));
  assert.deepEqual(log.decisionFor("aa", 300), { reason: "Throttled", price: 0.25 });
  assert.deepEqual(log.decisionFor("aa", 200), { reason: "DemandFell" });
  log.note(round(300, "DemandRose"));
  assert.equal(log.decisionFor("aa", 300).reason, "DemandRose");
});

pure("createDecisionLog() refuses to leave a change unexplained", () => {
  const log = createDecisionLog();
  assert.throws(() => log.decisionFor("aa", 300), /aa at 300m/);
  log.note(round(200, "Throttled"));
  assert.throws(() => log.decisionFor("aa", 300), /aa at 300m/);
});

/** 60 s at ten steps a second, with a burst to 400 m in the seconds 20 to 25 and 40 to 45. */
function pod(name: string, raises: readonly number[], latencyMs: number): PodSeries {
  const steps = (at: (step: number) => number) =>
    Float32Array.from({ length: 600 }, (_, step) => at(step));
  const latency = createLatencyHistogram();
  for (let count = 0; count < 99; count++) recordLatency(latency, latencyMs);
  recordLatency(latency, 100 * latencyMs);
  return seriesOf({
    ...{ uid: name, name, originalLimit: 150, latency },
    demand: steps((step) => step >= 200 && step % 200 < 50 ? 400 : 100),
    // Raised to 500 m at the given steps, and back to 150 m a hundred steps later.
    limit: steps((step) => raises.some((raise) => step >= raise && step < raise + 100) ? 500 : 150),
    ...{ usage: steps(() => 75), throttled: steps(() => 40), waited: steps(() => 20) },
  });
}

function score(...pods: PodSeries[]) {
  return scoreRun({
    stepS: 0.1,
    nodeCPU: 8000,
    capacity: 7200,
    pods,
    changes: [
      { atS: 20, pod: "a", from: 150, to: 500, reason: "Throttled" },
      { atS: 30, pod: "a", from: 500, to: 150, reason: "DemandFell" },
      { atS: 40, pod: "a", from: 150, to: 500, reason: "Throttled" },
    ],
  });
}

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

/** 40 s at ten steps a second: 100 m, and from second 20 on `level` for `seconds`. */
function burstOf(level: number, seconds: number): Float32Array {
  return Float32Array.from(
    { length: 400 },
    (_, step) => step >= 200 && step < 200 + seconds * 10 ? level : 100,
  );
}

/** 150 m, and from `raisedAt` on 500 m. */
function limitOf(raisedAt: number): Float32Array {
  return Float32Array.from({ length: 400 }, (_, step) => step >= raisedAt ? 500 : 150);
}

function find(change: Partial<BurstInput>) {
  return findBursts(
    { demand: burstOf(400, 10), limit: limitOf(206), ceiling: 1000, ...change },
    0.1,
  );
}

pure("findBursts() measures from the rise of demand to the raise of the limit", () => {
  // The second around step k holds the steps k − 4 to k + 5. It first reaches twice the 100 m of
  // before at k = 198: four steps of 400 m make a mean of 220 m. Then 8 more to the raise at 206.
  // The two seconds from there hold 18 whole steps of 400 m and one of 100 m.
  const [burst, ...more] = find({});
  assert.ok(burst);
  assert.deepEqual(more, []);
  assert.equal(burst.begin, 198);
  assert.ok(Math.abs((burst.reactionS ?? NaN) - 0.8) < 1e-9);
  assert.ok(Math.abs(burst.wanted - (100 + 19 * 400) / 20) < 1e-6);
});

pure(
  "findBursts() finds none where limit or ceiling cover it, or it is short, small or slow",
  () => {
    const level = (value: number) => new Float32Array(400).fill(value);
    const ramp = Float32Array.from({ length: 400 }, (_, step) => 100 + step);
    const rows: readonly Partial<BurstInput>[] = [
      { limit: level(400) },
      { demand: burstOf(400, 1) },
      { demand: burstOf(190, 10) },
      { demand: ramp, limit: level(150) },
      { ceiling: 150 },
      { demand: new Float32Array(5) },
    ];
    for (const change of rows) assert.deepEqual(find(change), []);
    const limit = Float32Array.from({ length: 400 }, (_, step) => step >= 203 ? 300 : 150);
    assert.equal(find({ limit })[0]?.reactionS, undefined);
    const [burst] = find({ limit, ceiling: 300 });
    assert.equal(burst?.wanted, 300);
    assert.ok(Math.abs((burst?.reactionS ?? NaN) - 0.5) < 1e-9);
  },
);

pure("findBursts() calls a burst missed when it ends first, and reports its length", () => {
  const [burst] = find({ demand: burstOf(400, 5), limit: limitOf(300) });
  assert.equal(burst?.reactionS, undefined);
  // At step 250 the second around it, 246 to 255, holds four steps of 400 m still, a mean of 220 m;
  // at 251 three, 190 m. So it lasts from 198 to 251.
  assert.ok(Math.abs((burst?.lengthS ?? NaN) - 5.3) < 1e-9, `${burst?.lengthS}`);
});

pure("findBursts() takes a plateau for one burst, and a further rise for another", () => {
  const demand = Float32Array.from(
    { length: 600 },
    (_, step) => step < 200 ? 100 : step < 400 ? 400 : 1600,
  );
  const found = findBursts({ demand, limit: new Float32Array(600).fill(150), ceiling: 9000 }, 0.1);
  assert.deepEqual(found.map(({ begin }) => begin), [198, 398]);
});

const limited = (limit: readonly number[], demand: readonly number[]): PodSeries =>
  seriesOf({ limit: Float32Array.from(limit), demand: Float32Array.from(demand) });

function judge(...pods: PodSeries[]) {
  return commitment({ pods, stepS: 1, capacity: 1000 });
}

pure("commitment() counts a limit above its floor, else the lesser of floor and demand", () => {
  assert.equal(judge(limited([600], [0]), limited([100], [30]), limited([100], [500])).peak, 730);
});

pure("commitment() averages demand over the last second", () => {
  const pods = [limited([100, 100, 100, 100], [0, 100, 0, 0])];
  assert.equal(commitment({ pods, stepS: 0.5, capacity: 1000 }).peak, 50);
});

pure("commitment() counts from a raise beyond capacity until the sum is back within it", () => {
  // 1000, then 1200 by a raise, still 1200, 1100 after a decrease, 900.
  const found = judge(
    limited([500, 700, 700, 600, 400], []),
    limited([500, 500, 500, 500, 500], []),
  );
  assert.deepEqual(found, { peak: 1200, overCapacityS: 3 });
});

pure("commitment() exempts limits found at the start and demand that grows by itself", () => {
  assert.equal(judge(limited([900, 800, 500], []), limited([900, 800, 400], [])).overCapacityS, 0);
  // A raise within capacity, then an idle pod starts to use its floor: no raise granted that.
  const late = judge(limited([900, 950, 950], []), limited([100, 100, 100], [0, 20, 100]));
  assert.deepEqual(late, { peak: 1050, overCapacityS: 0 });
  // But a raise on top of what was found counts.
  assert.equal(judge(limited([900, 900, 900], []), limited([300, 350, 350], [])).overCapacityS, 2);
});

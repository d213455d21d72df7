import assert from "node:assert/strict";
import { seededRandom } from "../../shared/random.ts";
import { endlessWork } from "./workload.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { createLatencyHistogram } from "./node/latency_histogram.ts";
import { SimulatedNode } from "./node/simulated_node.ts";
import { assembleRecord, createRecorder, type Recorder } from "./recorder.ts";
import type { PodSeries, RecordedPod } from "./run_record.ts";
import { type BurstInput, commitment, findBursts } from "./scores.ts";

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

const limited = (limit: readonly number[], demand: readonly number[]): PodSeries =>
  seriesOf({ limit: Float32Array.from(limit), demand: Float32Array.from(demand) });

function judge(...pods: PodSeries[]) {
  return commitment({ pods, stepS: 1, capacity: 1000 });
}

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

import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { seededRandom } from "../../shared/random.ts";
import { assembleRecord, createDecisionLog, createRecorder, type Recorder } from "./recorder.ts";
import { busyLoop } from "../../tests/fixtures/lab/busy_loop.ts";
import { requests } from "../../tests/fixtures/lab/one_pod_node.ts";
import { createSimulatedNode } from "./node/simulated_node.ts";
import type { RecordedPod } from "./run_record.ts";
import type { ContainerResult, RoundResult } from "../../agent/market/round.ts";
import type { MarketReason } from "../../shared/api/reasons/market_reasons.ts";

const POD: RecordedPod = {
  uid: "u",
  name: "web",
  trace: "always busy",
  request: 100,
  originalLimit: 200,
  weight: 100,
  floor: 100,
  ceiling: 800,
};

/** One pod with a thread that is always busy: 2 s at 200 m, then 2 s at 700 m. */
function record(): Recorder {
  const node = createSimulatedNode({ cores: 2, random: seededRandom(1) });
  node.addPod({
    uid: "u",
    phaseMs: 0,
    containers: [{ id: "c", request: 100, limit: 200, threads: 1, workload: busyLoop(1) }],
  });
  const recorder = createRecorder(node, { pods: [POD], capacity: 1800, seconds: 4 });
  for (let ms = 100; ms <= 4000; ms += 100) {
    node.advance(ms);
    recorder.sample();
    if (ms === 2000) {
      node.setContainerQuota("c", 700);
      node.setPodQuota("u", 700);
      recorder.price(0.25);
      recorder.change({ atS: 2, pod: "web", from: 200, to: 700, reason: "Throttled" });
    }
  }
  return recorder;
}

pure("createRecorder() writes down each period in millicores and throttled ms per s", () => {
  const recorder = record();
  const series = recorder.series();
  const [pod] = series.pods;
  assert.ok(pod);
  assert.deepEqual([...pod.limit.subarray(18, 22)], [200, 200, 700, 700]);
  // Up to a tick a period is used on credit, and paid in the next.
  [200, 200, 700, 700].forEach((limit, i) => assert.ok(Math.abs(pod.usage[18 + i]! - limit) <= 40));
  assert.ok(pod.demand.every((demand) => demand === 1000));
  // A pause shows in the step in which the quota is refilled, here the next one.
  assert.equal(pod.throttled[0], 0);
  for (const step of [1, 19, 20, 21, 22]) {
    assert.ok(Math.abs(pod.throttled[step]! - (1000 - pod.usage[step - 1]!)) < 0.1);
  }
  assert.deepEqual([...series.price.subarray(19, 21)], [NaN, 0.25]);
});

pure("createRecorder() distinguishes an infinite price from one that was not yet found", () => {
  const node = createSimulatedNode({ cores: 2, random: seededRandom(1) });
  const recorder = createRecorder(node, { pods: [], capacity: 1800, seconds: 1 });
  recorder.sample();
  for (const price of [Infinity, 0, Infinity]) {
    recorder.price(price);
    recorder.sample();
  }
  assert.deepEqual([...recorder.series().price], [NaN, Infinity, 0, Infinity]);
});

pure("assembleRecord() thins the series and scores the run", () => {
  const run = assembleRecord(record().series(), { algorithm: "test", description: "", seed: 1 });
  const [pod] = run.pods;
  assert.ok(pod);
  assert.deepEqual(pod.limit, [200, 200, 700, 700]);
  [200, 200, 700, 700].forEach((limit, s) => assert.ok(Math.abs(run.sumUsage[s]! - limit) <= 4));
  assert.deepEqual(pod.demand, [1000, 1000, 1000, 1000]);
  assert.deepEqual(run.price.slice(2), [0.25, 0.25]);
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

pure("assembleRecord() leaves out prices that were never reported", () => {
  const node = createSimulatedNode({ cores: 2, random: seededRandom(1) });
  const recorder = createRecorder(node, { pods: [], capacity: 1800, seconds: 1 });
  recorder.sample();
  const options = { algorithm: "static", description: "", seed: 1 };
  const run = assembleRecord(recorder.series(), options);
  assert.deepEqual([run.price, run.pods, run.scores.jain], [[], [], 1]);
});

pure("createRecorder() keeps latencies of victims during contention apart", () => {
  const node = createSimulatedNode({ cores: 2, random: seededRandom(1) });
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
  assert.deepEqual(log.of("aa", 300), { reason: "Throttled", price: 0.25 });
  assert.deepEqual(log.of("aa", 200), { reason: "DemandFell" });
  log.note(round(300, "DemandRose"));
  assert.equal(log.of("aa", 300).reason, "DemandRose");
});

pure("createDecisionLog() refuses to leave a change unexplained", () => {
  const log = createDecisionLog();
  assert.throws(() => log.of("aa", 300), /aa at 300m/);
  log.note(round(200, "Throttled"));
  assert.throws(() => log.of("aa", 300), /aa at 300m/);
});

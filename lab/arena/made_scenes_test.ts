import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { readRequestLog } from "../simulation/oracle/request_log.ts";
import { burstScene, stepScene } from "./made_scenes.ts";
import { SHARED_NODE_SCENES, shareRequests } from "./shared_node_scenes.ts";

const CAPACITY_CORES = 7.2;

pure("burstScene() knows bursts of 10 s at four times the load, at tenths of a second", () => {
  const { scene, bursts = [] } = burstScene(0.5, { seed: 1, minutes: 20 });
  assert.equal(scene.minutes, 20);
  assert.ok(bursts.length >= 6 && bursts.length <= 20, `${bursts.length} bursts`);
  const workload = scene.pods[0]?.workload();
  for (const { atS, untilS, from, to } of bursts) {
    assert.ok(Math.abs(untilS - atS - 10) < 0.11);
    assert.equal(from, 0.5);
    assert.equal(to, 2);
    assert.ok(Math.abs((workload?.coresAt(atS * 1000 + 50) ?? 0) - 2) < 1e-9);
    assert.ok(Math.abs((workload?.coresAt(atS * 1000 - 50) ?? 0) - 0.5) < 1e-9);
  }
  assert.ok(bursts.some(({ atS }) => Math.abs(atS - Math.round(atS)) > 0.05));
});

pure("burstScene() and stepScene() move their changes with the seed", () => {
  const bursts = (seed: number) => burstScene(1, { seed, minutes: 10 }).bursts;
  const steps = (seed: number) => stepScene({ seed, minutes: 10 }).steps;
  assert.deepEqual(bursts(1), bursts(1));
  assert.notDeepEqual(bursts(1), bursts(2));
  assert.deepEqual(steps(1), steps(1));
  assert.notDeepEqual(steps(1), steps(2));
});

pure("stepScene() steps by 4, 0.5, 2 and 0.25, and takes raises for bursts", () => {
  const { steps = [], bursts = [] } = stepScene({ seed: 3, minutes: 25 });
  assert.deepEqual(steps.map(({ from, to }) => to / from), [4, 0.5, 2, 0.25]);
  assert.deepEqual(bursts.map(({ from, to }) => to / from), [4, 2]);
  for (const { atS, untilS } of steps) assert.ok(untilS - atS >= 290);
});

pure("stepScene() has steady work: requests of one size, evenly spaced", () => {
  const { scene, steps = [] } = stepScene({ seed: 3, minutes: 10 });
  const workload = scene.pods[0]?.workload();
  assert.ok(workload !== undefined);
  let [before, level] = [0, 0.5];
  for (let count = 0; count < 40_000; count++, workload.next()) {
    assert.equal(workload.nextCost, 8);
    const step = steps.find(({ atS }) => before < atS * 1000 && workload.nextAt >= atS * 1000);
    level = step?.to ?? level;
    const spacing = workload.nextAt - before;
    if (step === undefined && count > 0) assert.ok(Math.abs(spacing - 8 / level) < 1e-6);
    before = workload.nextAt;
  }
});

pure("SHARED_NODE_SCENES are short where they say so, and within capacity at the start", () => {
  for (const [name, make] of Object.entries(SHARED_NODE_SCENES)) {
    const { pods, cores } = make({ seed: 2, minutes: 3 });
    assert.equal(cores, 8);
    assert.equal(new Set(pods.map(({ uid }) => uid)).size, pods.length);
    assert.equal(new Set(pods.map((pod) => pod.name)).size, pods.length);
    const sum = (of: (pod: (typeof pods)[number]) => number) =>
      pods.reduce((total, pod) => total + of(pod), 0);
    assert.ok(sum(({ request }) => request) <= CAPACITY_CORES * 1000, name);
    // At the start of `noisy-neighbour` there is no burst.
    const wanted = sum(({ workload }) => workload().coresAt(0));
    assert.ok(name === "noisy-neighbour" || wanted > CAPACITY_CORES, `${name}: ${wanted}`);
  }
  const short = SHARED_NODE_SCENES["short-node"]({ seed: 5, minutes: 3 });
  const wanted = short.pods.reduce((total, { workload }) => total + workload().coresAt(0), 0);
  assert.ok(Math.abs(wanted - 1.3 * CAPACITY_CORES) < 1e-9);
});

pure("shareRequests() replays the same requests, and leaves endless work alone", () => {
  const scene = SHARED_NODE_SCENES.batch({ seed: 1, minutes: 1 });
  const shared = shareRequests(scene);
  scene.pods.forEach((pod, index) => {
    const again = shared.pods[index];
    assert(again !== undefined);
    assert.equal(again.workload().coresAt(30_000), pod.workload().coresAt(30_000));
    if (pod.trace === "endless") {
      assert.equal(again, pod);
      return;
    }
    const log = readRequestLog(pod.workload(), 60_000);
    assert.ok(log.atMs.length > 100);
    assert.deepEqual(readRequestLog(again.workload(), 60_000), log);
    assert.deepEqual(readRequestLog(again.workload(), 60_000), log);
  });
});

pure("SHARED_NODE_SCENES has a batch job that wants all its threads for ever", () => {
  const batch = SHARED_NODE_SCENES.batch({ seed: 1, minutes: 1 }).pods.at(-1);
  const workload = batch?.workload();
  assert(workload !== undefined);
  let threads = 0;
  for (; workload.nextAt < Infinity; workload.next()) {
    assert.equal(workload.nextAt, 0);
    assert.equal(workload.nextCost, Infinity);
    threads++;
  }
  assert.equal(threads, 8);
  assert.equal(workload.coresAt(1e6), 8);
});

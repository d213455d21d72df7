import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { readRequestLog } from "../simulation/oracle/request_log.ts";
import { SERVICE_SCENES } from "./service_scenes.ts";

const CAPACITY_CORES = 7.2;
const OPTIONS = { seed: 1, minutes: 4 };

pure(
  "SERVICE_SCENES have distinct pods with requests that fit, and need less than the capacity",
  () => {
    for (const [name, make] of Object.entries(SERVICE_SCENES)) {
      const { scene: { pods } } = make(OPTIONS);
      assert.equal(new Set(pods.map((pod) => pod.name)).size, pods.length, name);
      assert.equal(new Set(pods.map(({ uid }) => uid)).size, pods.length, name);
      const requested = pods.reduce((sum, { request }) => sum + request, 0);
      assert.ok(requested <= CAPACITY_CORES * 1000, `${name}: ${requested} m`);
      const workloads = pods.map(({ workload }) => workload());
      const wanted = (ms: number) => workloads.reduce((sum, one) => sum + one.coresAt(ms), 0);
      for (let second = 0; second < 240; second++) {
        const isContended = name === "busy-neighbour" && second >= 80 && second < 160;
        const cores = wanted(second * 1000 + 500);
        assert.equal(cores > CAPACITY_CORES, isContended, `${name}: ${cores} CPUs at ${second} s`);
      }
    }
  },
);

pure(
  "SERVICE_SCENES have a chain in which each request reaches the next service 20 ms later",
  () => {
    const { scene, bursts = [] } = SERVICE_SCENES.chain(OPTIONS);
    const [first, second] = scene.pods.map(({ workload }) => readRequestLog(workload(), 60_000));
    assert(first !== undefined && second !== undefined);
    assert.ok(second.atMs.length > 1000);
    second.atMs.forEach((at, index) => {
      assert.ok(Math.abs(at - (first.atMs[index] ?? 0) - 20) < 1e-9);
    });
    assert.notDeepEqual(first.costMs, second.costMs);
    assert.equal(new Set(bursts.map(({ pod }) => pod)).size, 4);
    assert.ok(bursts.every(({ from, to }) => Math.abs(to / from - 4) < 1e-9));
  },
);

pure("SERVICE_SCENES have victims that come before their neighbour", () => {
  const { scene: { pods, contention } } = SERVICE_SCENES["busy-neighbour"](OPTIONS);
  assert.deepEqual([...contention?.victims ?? [], "neighbour"], pods.map(({ name }) => name));
  assert.deepEqual([contention?.fromS, contention?.untilS], [80, 160]);
});

pure("SERVICE_SCENES have a warm pool of which one pod bursts, and periodic bursts in turn", () => {
  const pool = SERVICE_SCENES["warm-pool"](OPTIONS);
  assert.equal(pool.scene.pods.length, 100);
  assert.deepEqual(new Set(pool.bursts.map(({ pod }) => pod)), new Set(["pod-1"]));
  const { bursts } = SERVICE_SCENES["periodic-bursts"](OPTIONS);
  const begins = bursts.map(({ atS }) => atS);
  assert.equal(new Set(begins).size, begins.length);
  assert.ok(begins.length >= 4 * 7);
});

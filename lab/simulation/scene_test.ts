import fc from "fast-check";
import assert from "node:assert/strict";
import { seededRandom } from "../../shared/random.ts";
import { cases } from "../../tests/fixtures/cases.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { SimulatedNode } from "./node/simulated_node.ts";
import { createScene, type Scene } from "./scene.ts";
import type { Trace } from "./trace.ts";
import { createWorkload, type Workload } from "./workload.ts";

function trace(name: string, values: readonly number[]): Trace {
  return { name, unit: "requests/s", stepS: 1, values: Float64Array.from(values) };
}

const TRACES = [
  trace("rising", Array.from({ length: 600 }, (_, second) => 100 + second)),
  trace("My Trace/№ 1.csv", Array.from({ length: 300 }, () => 50)),
];

function scene(options: { seed?: number; pods?: number; minutes?: number } = {}): Scene {
  const { seed = 1, pods = 12, minutes = 5 } = options;
  return createScene({ seed, pods, minutes, traces: TRACES });
}

pure("createScene() sets limits as people do, on the grid, with names and UIDs", () => {
  const { pods } = scene({ pods: 40 });
  for (const { request, originalLimit, name, uid, priority } of pods) {
    assert.ok(request >= 10 && request % 10 === 0);
    assert.equal(originalLimit, 2 * request);
    assert.match(name, /^[a-z0-9][a-z0-9-]*-\d+$/);
    assert.match(uid, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/);
    assert.ok(priority === 0 || priority === 4000);
  }
  assert.equal(new Set(pods.map(({ uid }) => uid)).size, 40);
  assert.equal(new Set(pods.map(({ name }) => name)).size, 40);
});

pure("createScene() works for any seed and number of pods that the demo accepts", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: -(2 ** 31) + 1, max: 2 ** 31 - 1 }),
      fc.integer({ min: 1, max: 200 }),
      (seed, pods) => {
        const made = scene({ seed, pods });
        assert.equal(made.pods.length, pods);
        for (const pod of made.pods) pod.workload();
      },
    ),
    cases(0.5),
  );
});

function traceOf(stepS: number, values: readonly number[], unit: Trace["unit"] = "cores"): Trace {
  return { name: "made up", unit, stepS, values: Float64Array.from(values) };
}

function arrivalsBefore(workload: Workload, ms: number): { times: number[]; work: number } {
  const times: number[] = [];
  let work = 0;
  for (; workload.nextAt < ms; workload.next()) {
    times.push(workload.nextAt);
    work += workload.nextCost;
  }
  return { times, work };
}

pure("createWorkload() holds a rate within 1 s steps and interpolates coarser ones", () => {
  const options = { costMs: 1000, random: seededRandom(1) };
  const steps = createWorkload(traceOf(1, [1, 3]), options);
  assert.deepEqual([0, 999, 1000, 2000].map(steps.coresAt), [1, 1, 3, 1]);
  const ramp = createWorkload(traceOf(60, [1, 3]), { ...options, offsetS: 30 });
  assert.deepEqual([0, 30_000, 60_000, 90_000].map(ramp.coresAt), [2, 3, 2, 1]);
});

pure("createWorkload() never ends where all rates are 0, and never offers anything", () => {
  const workload = createWorkload(traceOf(1, [0, 0]), { costMs: 1, random: seededRandom(1) });
  assert.equal(workload.nextAt, Infinity);
});

pure("createWorkload() gives growing times for any trace and offset", () =>
  fc.assert(fc.property(
    fc.array(fc.double({ min: 0, max: 100, noNaN: true }), { minLength: 1, maxLength: 8 }),
    fc.constantFrom(1, 60),
    fc.double({ min: 0, max: 1000, noNaN: true }),
    (values, stepS, offsetS) => {
      fc.pre(values.some((value) => value > 0.1));
      const workload = createWorkload(traceOf(stepS, values, "requests/s"), {
        costMs: 5,
        offsetS,
        random: seededRandom(9),
      });
      let previous = 0;
      for (let count = 0; count < 200; count++, workload.next()) {
        assert.ok(workload.nextAt >= previous && workload.nextAt < Infinity);
        assert.ok(workload.nextCost > 0 && workload.nextCost < Infinity);
        previous = workload.nextAt;
      }
    },
  )));

/** Two seconds: one request in the first, three in the second, two of them at once. */
const RECORDED: Trace = {
  ...traceOf(1, [1, 3], "requests/s"),
  arrivalsMs: Float64Array.from([250, 1000, 1500, 1500]),
};

pure("createWorkload() replays recorded arrivals to the ms, lap after lap, from any offset", () => {
  const times = (offsetS: number) =>
    arrivalsBefore(
      createWorkload(RECORDED, { costMs: 5, offsetS, random: seededRandom(1) }),
      3000,
    ).times;
  assert.deepEqual(times(0), [250, 1000, 1500, 1500, 2250]);
  // From 1.25 s on: the two at 1.5 s, then the second lap, which begins at 0.75 s.
  assert.deepEqual(times(1.25), [250, 250, 1000, 1750, 2250, 2250]);
  assert.deepEqual(times(1.75), [500, 1250, 1750, 1750, 2500]);
  assert.deepEqual(times(3.25), times(1.25));
});

pure("createWorkload() reaches a number of CPUs by the cost of recorded requests", () => {
  const make = (options: object) =>
    createWorkload(RECORDED, { costMs: 5, variation: 0, random: seededRandom(1), ...options });
  // 4 requests in 2 s: 2 a second, so 0.5 CPUs are 250 ms each.
  const mean = make({ meanCores: 0.5 });
  assert.deepEqual(arrivalsBefore(mean, 2000), { times: [250, 1000, 1500, 1500], work: 1000 });
  assert.deepEqual([0, 1000, 2000].map(mean.coresAt), [0.25, 0.75, 0.25]);
  // The 95th percentile of 1 and 3 is 2.9 (linear between ranks): 580 ms × 5 / 2.9 = 1000.
  assert.ok(Math.abs(make({ p95Cores: 2.9 }).nextCost - 1000) < 1e-9);
  assert.equal(make({}).nextCost, 5);
  assert.equal(make({ meanCores: 0 }).nextAt, Infinity);
  assert.equal(
    createWorkload({ ...RECORDED, arrivalsMs: new Float64Array() }, {
      costMs: 5,
      random: seededRandom(1),
    }).nextAt,
    Infinity,
  );
});

pure("createWorkload() brings the same requests however fast they are served", () => {
  const run = (limit: number) => {
    const node = new SimulatedNode({ cores: 2, random: seededRandom(1) });
    const workload = createWorkload(traceOf(1, [1, 4, 2]), {
      meanCores: 0.5,
      costMs: 20,
      random: seededRandom(11),
    });
    const container = { id: "c", request: 100, limit, threads: 4, workload };
    node.addPod({ uid: "u", containers: [container] });
    node.advance(60_000);
    const { latency: _latency, ...reading } = node.pod("u");
    return { reading, requests: reading.completed + reading.open };
  };
  const [fast, slow] = [run(2000), run(200)];
  assert.equal(slow.requests, fast.requests);
  assert.equal(slow.reading.offeredUs, fast.reading.offeredUs);
  assert.ok(slow.reading.completed < fast.reading.completed);
  assert.deepEqual(run(200), slow);
});

import assert from "node:assert/strict";
import { pure } from "../../tests/fixtures/pure.ts";
import type { Trace } from "../simulation/trace.ts";
import { mostMinutes, playableStage, sceneStages, shippedStages, traceStage } from "./stages.ts";
import { quantile } from "../simulation/statistics.ts";
import { traceScene, type TraceSceneOptions } from "./trace_scene.ts";
import { readRequestLog } from "../simulation/oracle/request_log.ts";
import { burstScene, stepScene } from "./made_scenes.ts";
import { SHARED_NODE_SCENES, shareRequests } from "./shared_node_scenes.ts";
import { SERVICE_SCENES } from "./service_scenes.ts";

Deno.test("shippedStages() plays the busiest two hours, scaled where the unit is not CPU", async () => {
  const stages = await shippedStages({});
  assert.equal(stages.length, 9);
  for (const { name, minutes, p95Cores, trace } of stages) {
    const isScaled = name.startsWith("crane") || name === "azure-code";
    assert.equal(p95Cores, isScaled ? 2 : undefined, name);
    assert.ok(minutes <= 120 && minutes >= 57, name);
    assert.equal(minutes, Math.floor(trace.values.length * trace.stepS / 60));
    assert.equal(name === "azure-code", trace.arrivalsMs !== undefined);
  }
});

pure("sceneStages() has bursts of three sizes, steps, six short nodes and five of services", () => {
  assert.deepEqual(sceneStages({}).map(({ name }) => name), [
    "bursts-0.25",
    "bursts-1",
    "bursts-2",
    "steps",
    "noisy-neighbour",
    "batch",
    "light-services",
    "eight-equal",
    "priorities",
    "short-node",
    "chain",
    "warm-pool",
    "periodic-bursts",
    "busy-neighbour",
    "many-pods",
  ]);
  assert.equal(sceneStages({ quick: true }).length, 4);
  assert.ok(sceneStages({ minutes: 5 }).every(({ minutes }) => minutes <= 5));
});

pure("mostMinutes() is what was asked for, else two hours, if quick a quarter of one", () => {
  assert.equal(mostMinutes({}), 120);
  assert.equal(mostMinutes({ quick: true }), 15);
  assert.equal(mostMinutes({ quick: true, minutes: 40 }), 40);
});

/** Minutes of a load, one value a minute. */
function trace(...values: number[]): Trace {
  return { name: "own", unit: "cores", stepS: 60, values: Float64Array.from(values) };
}

pure("traceStage() cuts out the busiest stretch, of at least one sample", () => {
  const options = { name: "own", format: "cores" } as const;
  const { minutes, trace: played } = traceStage(trace(1, 2, 5, 4, 1), { ...options, minutes: 2 });
  assert.equal(minutes, 2);
  assert.deepEqual([...played.values], [5, 4]);
  const coarse = { ...trace(1, 3), stepS: 300 };
  assert.equal(traceStage(coarse, { ...options, minutes: 1 }).minutes, 5);
});

pure("playableStage() refuses a trace without load or with too much of it", () => {
  const options = { name: "own", format: "cores", minutes: 60 } as const;
  assert.equal(playableStage(trace(1, 2), options).minutes, 2);
  assert.throws(() => playableStage(trace(0, 0), options), /no load.* 0:/);
  assert.throws(() => playableStage(trace(100, 200), options), /150 CPUs.*--scale-p95/);
  assert.equal(playableStage(trace(100, 200), { ...options, p95Cores: 2 }).p95Cores, 2);
});

const TRACE: Trace = {
  name: "made up",
  unit: "cores",
  stepS: 1,
  values: Float64Array.from({ length: 120 }, (_, second) => second < 60 ? 0.5 : 1.5),
};

function service(options: Omit<TraceSceneOptions, "seed"> = {}) {
  const { cores, minutes, pods } = traceScene(TRACE, { seed: 1, ...options });
  const [pod] = pods;
  assert(pod !== undefined && pods.length === 1);
  return { cores, minutes, ...pod };
}

pure("traceScene() asks for half of the mean and allows four times that", () => {
  const { request, originalLimit, minutes, cores, p90Demand } = service();
  assert.deepEqual([request, originalLimit, minutes], [500, 2000, 2]);
  // Burst factor 8: a ceiling of 16 cores, which is at most three quarters of the node.
  assert.equal(cores, 22);
  assert.equal(p90Demand, 1500);
  assert.equal(service({ minutes: 1 }).request, 250);
});

pure("traceScene() takes the user's own request and limit, each alone too", () => {
  const own = (options: Omit<TraceSceneOptions, "seed">) => {
    const { request, originalLimit } = service(options);
    return [request, originalLimit];
  };
  assert.deepEqual(own({ request: 125, originalLimit: 333 }), [125, 333]);
  assert.deepEqual(own({ request: 300 }), [300, 1200]);
  assert.deepEqual(own({ originalLimit: 3000 }), [500, 3000]);
  assert.deepEqual(own({ originalLimit: 200 }), [200, 200]);
});

pure("traceScene() has room for the demand where the original limit is far below it", () => {
  const values = TRACE.values.map((value) => value * 20);
  const { cores, pods } = traceScene({ ...TRACE, values }, { seed: 1, originalLimit: 100 });
  assert(cores * 0.75 >= quantile(values, 1), String(cores));
  assert((pods[0]?.threads ?? 0) >= quantile(values, 1), String(pods[0]?.threads));
});

pure("traceScene() refuses what can't be played, with its values", () => {
  assert.throws(() => service({ request: 500, originalLimit: 400 }), {
    name: "RangeError",
    message: /request of 500m .* limit of 400m$/,
  });
  assert.throws(() => service({ request: 0 }), /request of 0m/);
  const short = { ...TRACE, values: TRACE.values.subarray(0, 59) };
  assert.throws(() => traceScene(short, { seed: 1 }), /59 s.*a minute/);
  const idle = { ...TRACE, values: new Float64Array(60) };
  assert.throws(() => traceScene(idle, { seed: 1 }), /no load.* 0:/);
});

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

pure("stepScene() steps by 4, 0.5, 2 and 0.25, and takes raises for bursts", () => {
  const { steps = [], bursts = [] } = stepScene({ seed: 3, minutes: 25 });
  assert.deepEqual(steps.map(({ from, to }) => to / from), [4, 0.5, 2, 0.25]);
  assert.deepEqual(bursts.map(({ from, to }) => to / from), [4, 2]);
  for (const { atS, untilS } of steps) assert.ok(untilS - atS >= 290);
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

const OPTIONS = { seed: 1, minutes: 4 };

pure("SERVICE_SCENES have distinct pods with requests that fit the capacity", () => {
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
});

pure("SERVICE_SCENES have a chain: each request reaches the next service 20 ms later", () => {
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
});

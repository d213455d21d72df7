import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import type { Trace } from "../simulation/trace.ts";
import { mostMinutes, playableStage, sceneStages, shippedStages, traceStage } from "./stages.ts";

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

Deno.test("shippedStages() plays three traces of 15 minutes when it is to be quick", async () => {
  const stages = await shippedStages({ quick: true });
  assert.deepEqual(stages.map(({ name, minutes }) => [name, minutes]), [
    ["bursty", 15],
    ["crane0", 15],
    ["azure-code", 15],
  ]);
  assert.equal((await shippedStages({ quick: true, minutes: 2 }))[0]?.minutes, 2);
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

pure(
  "mostMinutes() is what was asked for, else two hours, a quarter of one when it is to be quick",
  () => {
    assert.equal(mostMinutes({}), 120);
    assert.equal(mostMinutes({ quick: true }), 15);
    assert.equal(mostMinutes({ quick: true, minutes: 40 }), 40);
  },
);

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

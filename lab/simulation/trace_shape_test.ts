import assert from "node:assert/strict";
import { pure } from "../../tests/fixtures/pure.ts";
import { seededRandom } from "../../shared/random.ts";
import { quantile } from "./statistics.ts";
import type { Trace } from "./trace.ts";
import {
  busiestWindow,
  ratesOf,
  scaleToMean,
  scaleToP95,
  wholeMinutes,
  withBursts,
} from "./trace_shape.ts";

function trace(stepS: number, values: readonly number[]): Trace {
  return { name: "made up", unit: "cores", stepS, values: Float64Array.from(values) };
}

pure(
  "busiestWindow() cuts out the largest sum, the first of equals, or keeps a short trace",
  () => {
    const long = trace(60, [1, 5, 0, 3, 3, 1]);
    assert.deepEqual([...busiestWindow(long, 120).values], [1, 5]);
    assert.deepEqual([...busiestWindow(long, 180).values], [5, 0, 3]);
    assert.deepEqual([...busiestWindow(trace(60, [1, 5, 0, 3, 4, 1]), 120).values], [3, 4]);
    assert.equal(busiestWindow(long, 7200), long);
  },
);

pure("wholeMinutes() rounds down, and refuses less than one with the length and a remedy", () => {
  const refuse = (state: string) => new RangeError(state);
  assert.equal(wholeMinutes(trace(50, [1, 1, 1]), refuse), 2);
  assert.equal(wholeMinutes(trace(60, [1]), refuse), 1);
  assert.throws(() => wholeMinutes(trace(1.5, [1, 1, 1]), refuse), { message: /4 s.* a minute/ });
});

pure("scaleToP95() and scaleToMean() reach their target and keep the shape", () => {
  const ramp = trace(60, Array.from({ length: 101 }, (_, index) => index));
  const scaled = scaleToP95(ramp, 1.9);
  assert.ok(Math.abs(quantile(scaled.values, 0.95) - 1.9) < 1e-12);
  assert.ok(Math.abs((scaled.values[50] ?? 0) - 1) < 1e-12);
  assert.ok(Math.abs((scaleToMean(ramp, 5).values[100] ?? 0) - 10) < 1e-12);
});

pure("withBursts() multiplies whole seconds by the factor, for the stated length", () => {
  const burst = withBursts(trace(60, [2, 2, 2, 2, 2, 2, 2, 2, 2, 2]), {
    everyS: 100,
    lastS: 8,
    random: seededRandom(4),
  });
  assert.equal(burst.stepS, 1);
  assert.equal(burst.values.length, 600);
  assert.ok(burst.values.every((value) => value === 2 || value === 8));
  const runs = [...burst.values].map((value) => value === 8 ? "x" : ".").join("").match(/x+/g);
  assert.ok(runs !== null && runs.length >= 4);
  assert.ok(runs.every((run) => run.length === 8), runs.join(" "));
});

pure("busiestWindow() cuts recorded arrivals with their seconds, the end left out", () => {
  const recorded: Trace = {
    name: "made up",
    unit: "requests/s",
    stepS: 1,
    values: Float64Array.from([1, 0, 2, 1, 1]),
    arrivalsMs: Float64Array.from([500, 2000, 2250, 3999, 4000]),
  };
  const cut = busiestWindow(recorded, 2);
  assert.deepEqual([...cut.values], [2, 1]);
  assert.deepEqual([...(cut.arrivalsMs ?? [])], [0, 250, 1999]);
  assert.equal(busiestWindow(recorded, 5), recorded);
});

pure("scaleToMean(), scaleToP95() and withBursts() go by the rates of recorded arrivals", () => {
  const recorded = { ...trace(1, [1, 3]), arrivalsMs: Float64Array.from([0, 1000, 1200, 1400]) };
  const plain = ratesOf(recorded);
  assert.equal("arrivalsMs" in plain, false);
  assert.deepEqual(scaleToMean(recorded, 4), scaleToMean(plain, 4));
  assert.deepEqual([...scaleToMean(recorded, 4).values], [2, 6]);
  assert.deepEqual(scaleToP95(recorded, 4), scaleToP95(plain, 4));
  const bursts = (one: Trace) => withBursts(one, { everyS: 1, lastS: 1, random: seededRandom(4) });
  assert.deepEqual(bursts(recorded), bursts(plain));
});

pure("quantile() interpolates between neighbours, whatever their order", () => {
  assert.equal(quantile([4, 1, 3, 2], 0.5), 2.5);
  assert.ok(Math.abs(quantile([1, 2, 3, 4], 0.95) - 3.85) < 1e-12);
  assert.equal(quantile([7], 0.95), 7);
  assert.equal(quantile([3, 1], 1), 3);
  assert.ok(Number.isNaN(quantile([], 0.5)));
  assert.throws(() => quantile([1], 2), /2 is not between 0 and 1/);
});

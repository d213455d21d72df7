import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import { envelope, secondsPerPoint } from "./envelope.ts";

pure("envelope() keeps every step of a short series", () => {
  assert.deepEqual(envelope([3, 5], { stepS: 60 }), [
    { minute: 0.5, mean: 3, max: 3 },
    { minute: 1.5, mean: 5, max: 5 },
  ]);
  assert.deepEqual(envelope([], { stepS: 1 }), []);
});

pure(
  "envelope() keeps mean and maximum of each stretch and leaves gaps where nothing is finite",
  () => {
    assert.deepEqual(envelope([1, 3, Infinity, 8, Infinity, NaN], { stepS: 30, points: 3 }), [
      { minute: 0.5, mean: 2, max: 3 },
      { minute: 1.5, mean: 8, max: 8 },
      { minute: 2.5, mean: NaN, max: NaN },
    ]);
  },
);

pure("envelope() never hides the highest value nor shifts the mean of equal stretches", () => {
  const series = fc.array(fc.integer({ min: 0, max: 1e6 }), { minLength: 1, maxLength: 400 });
  fc.assert(fc.property(series, fc.integer({ min: 1, max: 50 }), (values, points) => {
    const drawn = envelope(values, { stepS: 1, points });
    assert.equal(drawn.length, Math.min(points, values.length));
    assert.equal(Math.max(...drawn.map(({ max }) => max)), Math.max(...values));
    assert(drawn.every(({ mean, max }) => mean <= max + 1e-6));
    if (values.length % drawn.length !== 0) return;
    const mean = (all: number[]): number => all.reduce((sum, x) => sum + x, 0) / all.length;
    assert(Math.abs(mean(drawn.map((point) => point.mean)) - mean(values)) < 1e-3);
  }));
});

pure("secondsPerPoint() is the longest stretch", () => {
  assert.equal(secondsPerPoint(1800, { stepS: 1 }), 8);
  assert.equal(secondsPerPoint(10, { stepS: 2 }), 2);
  assert.equal(secondsPerPoint(0, { stepS: 2 }), 0);
});

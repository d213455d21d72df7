import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { type BurstInput, findBursts } from "./bursts.ts";

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

pure("findBursts() finds none where the limit covers it, or it is short, small or slow", () => {
  assert.deepEqual(find({ limit: new Float32Array(400).fill(400) }), []);
  assert.deepEqual(find({ demand: burstOf(400, 1) }), []);
  assert.deepEqual(find({ demand: burstOf(190, 10) }), []);
  const ramp = Float32Array.from({ length: 400 }, (_, step) => 100 + step);
  assert.deepEqual(find({ demand: ramp, limit: new Float32Array(400).fill(150) }), []);
  assert.deepEqual(find({ ceiling: 150 }), []);
  assert.deepEqual(find({ demand: new Float32Array(5) }), []);
});

pure("findBursts() is content with the ceiling", () => {
  const limit = Float32Array.from({ length: 400 }, (_, step) => step >= 203 ? 300 : 150);
  assert.equal(find({ limit })[0]?.reactionS, undefined);
  const [burst] = find({ limit, ceiling: 300 });
  assert.equal(burst?.wanted, 300);
  assert.ok(Math.abs((burst?.reactionS ?? NaN) - 0.5) < 1e-9);
});

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
  const found = findBursts(
    { demand, limit: new Float32Array(600).fill(150), ceiling: 9000 },
    0.1,
  );
  assert.deepEqual(found.map(({ begin }) => begin), [198, 398]);
});

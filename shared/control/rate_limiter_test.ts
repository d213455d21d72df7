import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { forAll } from "../../tests/fixtures/for_all.ts";
import fc from "fast-check";
import { createRateLimiter } from "./rate_limiter.ts";

pure("createRateLimiter() hands out the burst at once and then one token per interval", () => {
  const limiter = createRateLimiter({ perSecond: 10, burst: 3 });
  assert.deepEqual([0, 0, 0, 0, 40, 100, 100].map((now) => limiter.take(now)), [
    0,
    0,
    0,
    100,
    60,
    0,
    100,
  ]);
});

forAll("createRateLimiter() never lets through more than the burst and what came back since", [
  fc.double({ min: 0.01, max: 1000, noNaN: true }),
  fc.integer({ min: 1, max: 50 }),
  fc.array(fc.double({ min: 0, max: 2000, noNaN: true }), { maxLength: 200 }),
], (perSecond, burst, gaps) => {
  const limiter = createRateLimiter({ perSecond, burst });
  const taken: number[] = [];
  let now = 0;
  for (const gap of gaps) {
    now += gap;
    if (limiter.take(now) === 0) taken.push(now);
  }
  taken.forEach((from, first) =>
    taken.slice(first).forEach((to, more) =>
      assert.ok(more + 1 <= burst + (to - from) * perSecond / 1000 + 1e-3)
    )
  );
}, 1);

forAll("createRateLimiter() has a token after the wait that it named", [
  fc.double({ min: 0.01, max: 1000, noNaN: true }),
  fc.double({ min: 0, max: 1e9, noNaN: true }),
], (perSecond, now) => {
  const limiter = createRateLimiter({ perSecond, burst: 1 });
  assert.equal(limiter.take(now), 0);
  assert.equal(limiter.take(now + limiter.take(now)), 0);
}, 1);

pure("createRateLimiter() refuses a rate or burst that allows nothing", () => {
  assert.throws(() => createRateLimiter({ perSecond: 0, burst: 1 }), /perSecond is 0/);
  assert.throws(() => createRateLimiter({ perSecond: 1, burst: 0.5 }), /burst is 0.5/);
});

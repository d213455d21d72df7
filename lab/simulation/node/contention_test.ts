import assert from "node:assert/strict";
import fc from "fast-check";
import { pure } from "../../../tests/fixtures/pure.ts";
import { cpuWeight, createClaims, shareByWeight } from "./contention.ts";

function shares(claims: readonly (readonly [wanted: number, weight: number])[], capacity: number) {
  const table = createClaims(claims.length);
  table.count = claims.length;
  claims.forEach(([wanted, weight], index) => {
    table.wanted[index] = wanted;
    table.weights[index] = weight;
  });
  shareByWeight(table, capacity);
  return [...table.given];
}

pure(
  "shareByWeight() gives everyone what it wants while that fits",
  () => assert.deepEqual(shares([[1, 5], [2, 1], [0, 1]], 4), [1, 2, 0]),
);

pure("shareByWeight() divides by weight and hands on what the satisfied leave", () => {
  assert.deepEqual(shares([[8, 1], [8, 3]], 4), [1, 3]);
  // 1 wants 1 of its fair 2, so the others divide 5 by 1 : 4.
  assert.deepEqual(shares([[1, 2], [8, 1], [8, 4]], 6), [1, 1, 4]);
});

pure(
  "shareByWeight() is work-conserving, bounded and weighted max-min fair",
  () =>
    fc.assert(fc.property(
      fc.array(
        fc.tuple(
          fc.double({ min: 0, max: 16, noNaN: true }),
          fc.double({ min: 0.5, max: 1000, noNaN: true }),
        ),
        { minLength: 1, maxLength: 30 },
      ),
      fc.double({ min: 0.1, max: 64, noNaN: true }),
      (claims, capacity) => {
        const given = shares(claims, capacity);
        const wanted = claims.reduce((sum, [want]) => sum + want, 0);
        const used = given.reduce((sum, share) => sum + share, 0);
        assert.ok(Math.abs(used - Math.min(wanted, capacity)) <= 1e-9 * Math.max(1, wanted));
        const levels = claims.map(([want, weight], index) => {
          const share = given[index] ?? NaN;
          assert.ok(share >= 0 && share <= want);
          return { level: share / weight, short: share < want - 1e-9 };
        });
        for (const short of levels.filter((one) => one.short)) {
          for (const other of levels) assert.ok(other.level <= short.level + 1e-9);
        }
      },
    )),
);

pure("cpuWeight() maps requests as kubelet and runtime do", () => {
  assert.deepEqual([0, 1, 100, 1000, 4000, 255_000, 1e9].map(cpuWeight), [
    1,
    1,
    4,
    39,
    157,
    9960,
    10_000,
  ]);
});

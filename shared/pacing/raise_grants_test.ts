import assert from "node:assert/strict";
import fc from "fast-check";
import { grantRaises } from "./raise_grants.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

pure("grantRaises() grants all where there is enough, also what lies off the grid", () => {
  assert.deepEqual(grantRaises([{ cost: 333, weight: 1 }, { cost: 67, weight: 5 }], 400), [
    333,
    67,
  ]);
});

pure("grantRaises() splits by weight and leaves what a small wish does not take", () => {
  const wishes = [{ cost: 900, weight: 100 }, { cost: 900, weight: 200 }, {
    cost: 30,
    weight: 100,
  }];
  assert.deepEqual(grantRaises(wishes, 330), [100, 200, 30]);
});

pure("grantRaises() grants nothing where nothing is free, or there is less", () => {
  assert.deepEqual(grantRaises([{ cost: 100, weight: 1 }, { cost: 0, weight: 1 }], -50), [0, 0]);
  assert.deepEqual(grantRaises([], 100), []);
});

pure("grantRaises() never grants more than is free, nor more than was wished", () => {
  const wish = fc.record({
    cost: fc.double({ min: 0, max: 8000, noNaN: true }),
    weight: fc.integer({ min: 1, max: 10_000 }),
  });
  fc.assert(
    fc.property(
      fc.array(wish, { maxLength: 30 }),
      fc.double({ min: -1000, max: 20_000, noNaN: true }),
      (wishes, free) => {
        const grants = grantRaises(wishes, free);
        const sum = grants.reduce((total, grant) => total + grant, 0);
        assert.ok(sum <= Math.max(0, free) * (1 + 1e-9));
        grants.forEach((grant, index) => assert.ok(grant <= (wishes[index]?.cost ?? 0)));
      },
    ),
  );
});

import assert from "node:assert/strict";
import fc from "fast-check";
import { forAll } from "../../tests/fixtures/for_all.ts";
import { logUniform } from "../../tests/fixtures/market/bids_arbitrary.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { splitByRequest } from "./pod_split.ts";

const sum = (values: readonly number[]): number => values.reduce((total, each) => total + each, 0);

pure("splitByRequest() splits by request, or equally, whole values by largest remainder", () => {
  assert.deepEqual(splitByRequest(400, [100, 300]), [100, 300]);
  assert.deepEqual(splitByRequest(0.5, [1, 3]), [0.125, 0.375]);
  assert.deepEqual(splitByRequest(400, [0, 300]), [0, 400]);
  assert.deepEqual(splitByRequest(100, [0, 0, 0, 0]), [25, 25, 25, 25]);
  assert.deepEqual(splitByRequest(100, [1, 1, 1]), [34, 33, 33]);
  assert.deepEqual(splitByRequest(10, [1, 2, 4]), [1, 3, 6]);
  assert.deepEqual(splitByRequest(1, [5, 5]), [1, 0]);
});

forAll(
  "splitByRequest() gives parts near the proportion that sum to the value in any order",
  [
    fc.oneof(fc.nat(1_000_000), logUniform(-6, 9), fc.constant(0)),
    fc.array(fc.oneof(fc.nat(16_000), fc.constant(0)), { minLength: 1, maxLength: 20 }),
  ],
  (value, weights) => {
    const parts = splitByRequest(value, weights);
    for (const order of [parts, parts.toReversed(), parts.toSorted((a, b) => a - b)]) {
      assert.equal(sum(order), value);
    }
    const total = sum(weights);
    const isWhole = Number.isInteger(value);
    parts.forEach((part, i) => {
      assert.ok(part >= 0 && (!isWhole || Number.isInteger(part)));
      const exact = total > 0 ? value * (weights[i] as number) / total : value / weights.length;
      assert.ok(Math.abs(part - exact) < (isWhole ? 1 : 1e-12 * value));
    });
  },
);

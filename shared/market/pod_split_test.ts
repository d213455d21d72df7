import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import { logUniform } from "../../tests/fixtures/market/bids_arbitrary.ts";
import { cases } from "../../tests/fixtures/cases.ts";
import { splitByRequest } from "./pod_split.ts";

const requests = fc.array(fc.oneof(fc.nat(16_000), fc.constant(0)), {
  minLength: 1,
  maxLength: 20,
});
const anyValue = fc.oneof(fc.nat(1_000_000), logUniform(-6, 9), fc.constant(0));
const sum = (values: readonly number[]): number => values.reduce((total, each) => total + each, 0);

pure("splitByRequest() splits in proportion to the requests", () => {
  assert.deepEqual(splitByRequest(400, [100, 300]), [100, 300]);
  assert.deepEqual(splitByRequest(0.5, [1, 3]), [0.125, 0.375]);
  assert.deepEqual(splitByRequest(400, [0, 300]), [0, 400]);
});

pure("splitByRequest() splits equally without any requests", () => {
  assert.deepEqual(splitByRequest(100, [0, 0, 0, 0]), [25, 25, 25, 25]);
});

pure("splitByRequest() splits a whole value into whole parts by largest remainder", () => {
  assert.deepEqual(splitByRequest(100, [1, 1, 1]), [34, 33, 33]);
  assert.deepEqual(splitByRequest(10, [1, 2, 4]), [1, 3, 6]);
  assert.deepEqual(splitByRequest(1, [5, 5]), [1, 0]);
});

pure("splitByRequest() gives parts that sum to the value exactly, in any order", () => {
  fc.assert(
    fc.property(anyValue, requests, (value, weights) => {
      const parts = splitByRequest(value, weights);
      assert.equal(sum(parts), value);
      assert.equal(sum(parts.toReversed()), value);
      assert.equal(sum(parts.toSorted((a, b) => a - b)), value);
      assert.ok(parts.every((part) => part >= 0));
    }),
    cases(5),
  );
});

pure("splitByRequest() keeps whole values whole and within one of the proportion", () => {
  fc.assert(
    fc.property(fc.nat(1_000_000), requests, (value, weights) => {
      const total = sum(weights);
      splitByRequest(value, weights).forEach((part, i) => {
        const exact = total > 0 ? value * (weights[i] as number) / total : value / weights.length;
        assert.ok(Number.isInteger(part) && Math.abs(part - exact) < 1);
      });
    }),
    cases(5),
  );
});

pure("splitByRequest() keeps fractions within a trillionth of the proportion", () => {
  fc.assert(
    fc.property(logUniform(-6, 9), requests, (value, weights) => {
      const total = sum(weights);
      fc.pre(total > 0 && !Number.isInteger(value));
      splitByRequest(value, weights).forEach((part, i) => {
        assert.ok(Math.abs(part - value * (weights[i] as number) / total) <= 1e-12 * value);
      });
    }),
    cases(5),
  );
});

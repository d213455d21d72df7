import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { quantile } from "./statistics.ts";

pure("quantile() interpolates between neighbours, whatever their order", () => {
  assert.equal(quantile([4, 1, 3, 2], 0.5), 2.5);
  assert.ok(Math.abs(quantile([1, 2, 3, 4], 0.95) - 3.85) < 1e-12);
  assert.equal(quantile([7], 0.95), 7);
  assert.equal(quantile([3, 1], 1), 3);
  assert.ok(Number.isNaN(quantile([], 0.5)));
  assert.throws(() => quantile([1], 2), /2 is not between 0 and 1/);
});

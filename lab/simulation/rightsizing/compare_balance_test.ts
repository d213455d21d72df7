import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { compareBalance } from "./compare_balance.ts";

pure("compareBalance() calls a rule worse only where it is better in nothing", () => {
  const other = { coverage: 0.9, waste: 1 };
  const beside = (coverage: number, waste: number): string =>
    compareBalance({ coverage, waste }, other);
  assert.equal(beside(0.9, 1), "same");
  assert.deepEqual([beside(0.95, 0.5), beside(0.9, 0.5), beside(0.95, 1)], [
    "better",
    "better",
    "better",
  ]);
  assert.deepEqual([beside(0.8, 2), beside(0.9, 2), beside(0.8, 1)], ["worse", "worse", "worse"]);
  assert.deepEqual([beside(0.95, 2), beside(0.8, 0.5)], ["safer", "leaner"]);
});

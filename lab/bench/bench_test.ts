import assert from "node:assert/strict";
import { Command, InvalidArgumentError } from "commander";
import { pure } from "../../tests/fixtures/pure.ts";
import { benchFlags, columns, goal, wholeNumber, wholeNumberFrom } from "./bench.ts";

pure("benchFlags() reads flags, also after a lone --, and has --json", () => {
  const read = (...args: string[]): object => benchFlags(new Command().option("--n <n>"), args);
  assert.deepEqual([read(), read("--", "--json", "--n", "2")], [
    { json: false },
    { json: true, n: "2" },
  ]);
});

pure("wholeNumber() refuses all but whole numbers from 1 on", () => {
  assert.equal(wholeNumber("12"), 12);
  for (const text of ["0", "-1", "1.5", "", "x", "1".repeat(20)]) {
    assert.throws(() => wholeNumber(text), InvalidArgumentError, text);
  }
  assert.equal(wholeNumberFrom(3)("3"), 3);
  assert.throws(() => wholeNumberFrom(3)("2"), /3 or more/);
});

pure("goal() holds up to its bound, and says nothing where it does not count", () => {
  assert.deepEqual([1, 2, 3, NaN].map((value) => goal("", value, { most: 2 }).held), [
    ...[true, true, false, false],
  ]);
  assert.equal(goal("", 3, { most: 2, counts: false }).held, undefined);
});

pure("columns() has numbers at their right", () => {
  assert.equal(columns([["a", "bb"], ["ccc", "d"]]), "a    bb\nccc   d");
});

import { Command, InvalidArgumentError } from "commander";
import assert from "node:assert/strict";
import { seededRandom, standardNormal } from "../../shared/random.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { benchFlags, columns, goal, wholeNumber, wholeNumberFrom } from "./bench.ts";
import { blockMeans, slopeOf } from "./soak/slope.ts";

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

pure("slopeOf() has slope and error of a textbook's example", () => {
  // x = 1..5, y = 2, 4, 5, 4, 5: b = 6 / 10, residuals' squares 2.4, error sqrt(2.4 / 3 / 10).
  const { perUnit, error } = slopeOf([[1, 2], [2, 4], [3, 5], [4, 4], [5, 5]]);
  assert.ok(Math.abs(perUnit - 0.6) < 1e-12, `${perUnit}`);
  assert.ok(Math.abs(error - Math.sqrt(0.08)) < 1e-12, `${error}`);
});

pure("slopeOf() holds the true slope within 2 errors in about 95 of 100 noisy series", () => {
  const random = seededRandom(1);
  let held = 0;
  for (let run = 0; run < 1000; run++) {
    const samples = Array.from(
      { length: 60 },
      (_, i) => [i, 100 + 0.5 * i + 5 * standardNormal(random)] as const,
    );
    const { perUnit, error } = slopeOf(samples);
    if (Math.abs(perUnit - 0.5) <= 2 * error) held++;
  }
  assert.ok(held > 930 && held < 970, `${held} of 1000`);
});

pure("slopeOf() refuses two samples, and a constant series has no slope and no error", () => {
  assert.throws(() => slopeOf([[0, 1], [1, 1]]), RangeError);
  assert.deepEqual(slopeOf([[0, 7], [1, 7], [2, 7]]), { perUnit: 0, error: 0 });
});

pure("blockMeans() keeps the slope's error true where neighbouring samples are alike", () => {
  assert.deepEqual(blockMeans([[0, 1], [1, 3], [2, 5], [3, 7]], 2), [[0.5, 2], [2.5, 6]]);
  assert.deepEqual(blockMeans([[0, 1], [1, 3]], 10), [[0, 1], [1, 3]]);
  const random = seededRandom(2);
  let [alone, inBlocks] = [0, 0];
  for (let run = 0; run < 400; run++) {
    let noise = 0;
    const samples = Array.from({ length: 240 }, (_, i) => {
      noise = 0.8 * noise + standardNormal(random);
      return [i, noise] as const;
    });
    const isHeld = ({ perUnit, error }: ReturnType<typeof slopeOf>): boolean =>
      Math.abs(perUnit) <= 2 * error;
    if (isHeld(slopeOf(samples))) alone++;
    if (isHeld(slopeOf(blockMeans(samples, 10)))) inBlocks++;
  }
  assert.ok(alone < 240 && inBlocks > 330, `${alone}, ${inBlocks} of 400`);
});

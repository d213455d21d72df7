import { pure } from "../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { exponential, logNormal, type Random, seededRandom, standardNormal } from "./random.ts";

const DRAWS = 100_000;

/** Mean and variance of many draws with a fixed seed: the same numbers at every run. */
function moments(draw: (random: Random) => number): { mean: number; variance: number } {
  const random = seededRandom(2024);
  let mean = 0, squares = 0;
  // Welford's update, so that no large sums are subtracted.
  for (let n = 1; n <= DRAWS; n++) {
    const value = draw(random);
    const before = value - mean;
    mean += before / n;
    squares += before * (value - mean);
  }
  return { mean, variance: squares / (DRAWS - 1) };
}

/**
 * Asserts a moment within five standard errors of the expected value. `sd` is the standard deviation
 * of what is averaged: of the draw for a mean, of the squared deviation for a variance.
 */
function assertMoment(actual: number, expected: { value: number; sd: number }): void {
  const allowed = 5 * expected.sd / Math.sqrt(DRAWS);
  assert.ok(Math.abs(actual - expected.value) <= allowed, `${actual}, expected ${expected.value}`);
}

const firstNumbers = (seed: number, count = 20): number[] => {
  const random = seededRandom(seed);
  return Array.from({ length: count }, () => random.next());
};

pure("seededRandom() gives the same numbers for the same seed and others for another", () => {
  assert.deepEqual(firstNumbers(42), firstNumbers(42));
  assert.notDeepEqual(firstNumbers(42), firstNumbers(43));
  const [one, other] = [seededRandom(5), seededRandom(5)];
  one.next();
  other.next();
  assert.equal(one.next(), other.next());
});

pure("seededRandom() begins unrelated for neighbouring seeds", () => {
  // The first numbers of 2,000 seeds in a row are uniform themselves: mean 1/2, variance 1/12, and
  // those of neighbours are not correlated; standard error of each is below 1/√2000 of its scale.
  const first = Array.from({ length: 2000 }, (_, seed) => firstNumbers(seed, 1)[0] as number);
  const mean = first.reduce((sum, x) => sum + x, 0) / first.length;
  assert.ok(Math.abs(mean - 0.5) <= 5 * Math.sqrt(1 / 12 / first.length));
  const products = first.slice(1).map((x, i) => (x - 0.5) * ((first[i] as number) - 0.5) * 12);
  const correlation = products.reduce((sum, x) => sum + x, 0) / products.length;
  assert.ok(Math.abs(correlation) <= 5 / Math.sqrt(products.length));
});

pure("seededRandom() draws uniformly from 0 up to but without 1", () => {
  const random = seededRandom(1);
  for (let n = 0; n < DRAWS; n++) {
    const value = random.next();
    assert.ok(value >= 0 && value < 1);
  }
  const { mean, variance } = moments((source) => source.next());
  assertMoment(mean, { value: 1 / 2, sd: Math.sqrt(1 / 12) });
  // Variance of (x − 1/2)²: 1/80 − 1/144 = 1/180.
  assertMoment(variance, { value: 1 / 12, sd: Math.sqrt(1 / 180) });
});

pure("seededRandom() takes negative and large seeds, and refuses what is no integer", () => {
  for (const seed of [0, -1, 2 ** 31, Number.MAX_SAFE_INTEGER]) {
    assert.equal(new Set(firstNumbers(seed)).size, 20);
  }
  for (const seed of [0.5, NaN, Infinity, 2 ** 53]) {
    assert.throws(() => seededRandom(seed), new RegExp(`^RangeError: .*seed is ${seed},`));
  }
});

pure("exponential() has the mean and the variance of its distribution", () => {
  const { mean, variance } = moments((random) => exponential(random, 3));
  assertMoment(mean, { value: 3, sd: 3 });
  // The fourth central moment is 9 mean⁴, hence the squared deviation varies by √8 mean².
  assertMoment(variance, { value: 9, sd: 9 * Math.sqrt(8) });
});

pure("standardNormal() has the mean and the variance of its distribution", () => {
  const { mean, variance } = moments(standardNormal);
  assertMoment(mean, { value: 0, sd: 1 });
  assertMoment(variance, { value: 1, sd: Math.sqrt(2) });
});

pure("standardNormal() puts 68.27 % of the draws within one and 95.45 % within two", () => {
  for (const [width, expected] of [[1, 0.6827], [2, 0.9545]] as const) {
    const { mean } = moments((random) => Number(Math.abs(standardNormal(random)) <= width));
    assertMoment(mean, { value: expected, sd: Math.sqrt(expected * (1 - expected)) });
  }
});

pure("logNormal() has the mean and the coefficient of variation that were asked for", () => {
  const { mean, variance } = moments((random) => logNormal(random, { mean: 40, variation: 0.5 }));
  assertMoment(mean, { value: 40, sd: 20 });
  // With s = 1 + cv² = 1.25: kurtosis s⁴ + 2 s³ + 3 s² − 3 = 8.035.
  assertMoment(variance, { value: 400, sd: 400 * Math.sqrt(8.035 - 1) });
});

pure("logNormal() is its mean where nothing varies", () => {
  assert.equal(logNormal(seededRandom(3), { mean: 40, variation: 0 }), 40);
});

pure("exponential() and logNormal() stay finite at both ends of the source", () => {
  for (const value of [0, 1 - 2 ** -32]) {
    const random: Random = { next: () => value };
    assert.ok(Number.isFinite(exponential(random, 1)) && exponential(random, 1) >= 0);
    const drawn = logNormal(random, { mean: 1, variation: 2 });
    assert.ok(Number.isFinite(drawn) && drawn > 0);
  }
});

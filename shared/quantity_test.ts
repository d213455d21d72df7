import fc from "fast-check";
import assert from "node:assert/strict";
import { cases } from "../tests/fixtures/cases.ts";
import { forAll } from "../tests/fixtures/for_all.ts";
import { pure } from "../tests/fixtures/pure.ts";
import { GO_DURATION_PATTERN, parseGoDuration } from "./duration.ts";
import {
  formatBytes,
  formatCPU,
  parseBytes,
  parseBytesBound,
  parseCPU,
  parseCPUBound,
  parseNanoCPU,
  sumCPU,
} from "./quantity.ts";
import { exponential, logNormal, type Random, seededRandom, standardNormal } from "./random.ts";

const MOST = Number.MAX_SAFE_INTEGER;

pure("quantities are read in every form that Kubernetes accepts, rounded up", () => {
  const zeros = "0".repeat(998);
  const rows: readonly (readonly [(text: string) => number, Readonly<Record<string, number>>])[] = [
    [parseCPU, { "0": 0, "1": 1000, "250m": 250, "0.1": 100, "1.": 1000, ".5": 500, "+2": 2000 }],
    [parseCPU, { "007": 7000, "1500000n": 2, "1500000u": 1500, "2k": 2_000_000, "3M": 3e9 }],
    [parseCPU, { "4G": 4e12, "0.001T": 1e12, "0.000001P": 1e12, "0.000000001E": 1e12 }],
    [parseCPU, { "1Ki": 1_024_000, "1.5Ki": 1_536_000, "1Mi": 1_048_576_000 }],
    [parseCPU, { "1Gi": 1_073_741_824_000, "0.001Ti": 1_099_511_627_776 }],
    [parseCPU, { "0.000001Pi": 1_125_899_906_843, "0.000000001Ei": 1_152_921_504_607 }],
    [parseCPU, { "1e3": 1_000_000, "1E-1": 100, "12e+1": 120_000, "5E0": 5000, "0.3": 300 }],
    [parseCPU, { "1n": 1, "0.1m": 1, "0.0000000000001": 1, "1e-4000": 1, "100.1m": 101 }],
    [parseCPU, { "1e-99999999999999999999": 1, "0e9999999999": 0, "0.30000000000000004": 301 }],
    [parseCPU, { [`${MOST}m`]: MOST, "9007199254740990.1m": MOST, [`1.${zeros}`]: 1000 }],
    [parseCPUBound, { "250m": 250, "9007199254740992m": MOST, "1E": MOST, "1e999999999": MOST }],
    [parseBytesBound, { "64Mi": 2 ** 26, "9007199254740992": MOST, "8Ei": MOST }],
    [parseNanoCPU, { "1n": 1, "123456n": 123_456, "1500u": 1_500_000, "2m": 2e6, "0.5": 5e8 }],
  ];
  for (const [parse, forms] of rows) {
    for (const [text, value] of Object.entries(forms)) assert.equal(parse(text), value, text);
  }
});

pure("quantities that Kubernetes refuses, or that can't be counted, are refused by name", () => {
  const odd = [
    ...["", ".", "+", "m", "1 ", " 1", "1 m", "1.2.3", "1e", "1e1.5", "1ki", "1K", "1i", "1mi"],
    ...["1am", "e3", "0x10", "1,5", "NaN", "Infinity", "1e3m", "1m1", "--1", "１"],
  ];
  const large = ["9007199254740992m", "9007199254740991.1m", "1E", "1Ei", "1e999999999"];
  const rows: readonly (readonly [(text: string) => number, readonly string[], RegExp])[] = [
    [parseCPU, odd, / is not a number /],
    [parseCPU, ["-1", "-250m", "-1e3"], /^Cannot parse CPU.* is negative/],
    [parseCPU, large, / is more than /],
    [parseCPU, [`1.${"0".repeat(999)}`], /"1\.0{62}…" \(1001 characters\) is not/],
    [parseCPUBound, ["-1", "-1E", "two", ""], / is n/],
    [parseBytesBound, ["-1", "much", ""], /^Cannot parse memory/],
    [parseNanoCPU, ["-1", "10M"], / is (negative|more than \d+n$)/],
  ];
  for (const [parse, texts, message] of rows) {
    for (const text of texts) {
      assert.throws(() => parse(text), { name: "SyntaxError", message }, text);
      const quoted = (error: Error) => text.length > 64 || error.message.includes(`"${text}"`);
      assert.throws(() => parse(text), quoted);
    }
  }
});

pure("sumCPU() is exact, or the largest number that can be counted", () => {
  assert.deepEqual([sumCPU([]), sumCPU([200, 50])], [0, 250]);
  assert.equal(formatCPU(sumCPU([2 ** 52, 2 ** 52, 7])), "9007199254740991m");
});

pure("formatCPU() and formatBytes() write whole CPUs and mebibytes, and refuse fractions", () => {
  assert.deepEqual([0, 250, 1000, 2500].map(formatCPU), ["0", "250m", "1", "2500m"]);
  const bytes = [0, 1, 2 ** 20 - 1, 2 ** 20, 104_857_600, 2 ** 31, 73_847_603].map(formatBytes);
  assert.deepEqual(bytes, ["0", "1", "1048575", "1Mi", "100Mi", "2048Mi", "73847603"]);
  for (const wrong of [-1, 0.5, NaN, Infinity, 1e21]) {
    const message = new RegExp(` ${String(wrong).replace("+", "\\+")} `);
    for (const format of [formatCPU, formatBytes]) {
      assert.throws(() => format(wrong), { name: "RangeError", message });
    }
  }
});

forAll(
  "parseCPU() reads back formatCPU(), parseBytes() formatBytes(), which has no m",
  [fc.nat({ max: MOST }), fc.nat({ max: 2 ** 33 - 1 })],
  (amount, mebi) => {
    assert.equal(parseCPU(formatCPU(amount)), amount);
    for (const bytes of [amount, mebi * 2 ** 20]) {
      assert.equal(parseBytes(formatBytes(bytes)), bytes);
      assert.match(formatBytes(bytes), /^\d+(Mi)?$/);
    }
  },
);

forAll(
  "parseCPU() scales by suffix and exponent, and is the exact ceiling of millionths",
  [fc.nat(9000), fc.nat(5), fc.nat(1_000_000), fc.nat(6), fc.nat({ max: 1e12 })],
  (count, index, digits, places, nanocores) => {
    const [small, large] = ["n", "u", "m", "", "k", "M", "G"].slice(index);
    assert.equal(parseCPU(`${count}${large}`), parseCPU(`${count * 1000}${small}`));
    const text = String(digits).padStart(places + 1, "0");
    const point = text.length - places;
    const moved = parseCPU(`${text.slice(0, point)}.${text.slice(point)}`);
    assert.deepEqual([parseCPU(`${digits}e-${places}`), parseCPU(`${digits}E-${places}`)], [
      moved,
      moved,
    ]);
    assert.equal(parseCPU(`${nanocores}n`), Math.ceil(nanocores / 1_000_000));
  },
);

const MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  "µs": 1e-3,
  "μs": 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

pure("parseGoDuration() reads every unit, sums and fractions", () => {
  for (const [unit, ms] of Object.entries(MS)) assert.equal(parseGoDuration(`3${unit}`), 3 * ms);
  const forms: Readonly<Record<string, number>> = {
    ...{ "0": 0, "+0": 0, "0s": 0, "24h": 86_400_000, "7d": 604_800_000, "1h30m": 5_400_000 },
    ...{ "1.5h": 5_400_000, ".5s": 500, "1.s": 1000, "+5m": 300_000, "1d12h": 129_600_000 },
    ...{ "12h1d": 129_600_000, "1m1m": 120_000, "1.1s": 1100, "0.1d": 8_640_000 },
    ...{ "2h0.5m1500ms": 7_231_500, "1.9ns": 1e-6, "106751d": 9_223_286_400_000 },
  };
  for (const [text, ms] of Object.entries(forms)) assert.equal(parseGoDuration(text), ms, text);
});

pure("parseGoDuration() refuses what is no duration, naming the text", () => {
  const odd = [
    ...["", "5", "h", ".", ".h", "1w", "1h 30m", " 1h", "1H", "1,5h", "1e3s", "++1h", "1h-30m"],
    ...["NaN", "Infinity", "１h", "1h\n", "P1D", "1.2.3h"],
  ];
  const long = ["106752d", "2562048h", "9223372036854775808ns", "9".repeat(60) + "s"];
  const rows: readonly (readonly [readonly string[], RegExp])[] = [
    [odd, /".*" .*90s/],
    [["-1h", "-0s", "-1h30m"], /is negative/],
    [long, /is more than 292 years$/],
    [[`${"0".repeat(64)}s`], /\(65 characters\) is not/],
  ];
  for (const [texts, message] of rows) {
    for (const text of texts) {
      assert.throws(() => parseGoDuration(text), { name: "SyntaxError", message }, text);
    }
  }
});

pure("parseGoDuration() adds the parts, in whatever order they come", () => {
  const part = fc.record({ count: fc.nat(9_000), unit: fc.constantFrom("ms", "s", "m", "h", "d") });
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 6 }), (parts) => {
      const text = parts.map(({ count, unit }) => `${count}${unit}`).join("");
      const sum = parts.reduce((ms, { count, unit }) => ms + count * (MS[unit] as number), 0);
      assert.equal(parseGoDuration(text), sum);
      assert.equal(parseGoDuration(text), parseGoDuration(text.replaceAll(/(\d+)d/g, dayAsHours)));
    }),
    cases(5),
  );
});

function dayAsHours(_part: string, days: string): string {
  return `${24 * Number(days)}h`;
}

pure("parseGoDuration() reads what GO_DURATION_PATTERN matches, and nothing else", () => {
  const pattern = new RegExp(GO_DURATION_PATTERN);
  const text = fc.oneof(
    fc.stringMatching(/^[-+]?[0-9.dhmsnu ]{0,8}$/),
    fc.stringMatching(/^(\d{1,3}(\.\d{1,2})?(ns|us|ms|s|m|h|d)){1,3}$/),
  );
  let read = 0;
  fc.assert(
    fc.property(text, (one) => {
      if (pattern.test(one)) {
        read++;
        assert.ok(parseGoDuration(one) >= 0);
      } else assert.throws(() => parseGoDuration(one), SyntaxError);
    }),
    cases(5),
  );
  assert.ok(read > 0);
});

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

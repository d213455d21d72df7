import fc from "fast-check";
import assert from "node:assert/strict";
import { pure } from "../../tests/fixtures/pure.ts";
import {
  compactDistribution,
  type Distribution,
  samplesDistribution,
  usageSummaryOf,
} from "./distribution.ts";

const TIMES = { oldestMs: 5, newestMs: 7 } as const;
const FRACTIONS = [0.5, 0.9, 0.95, 0.99] as const;

function of(values: readonly number[]): Distribution {
  return samplesDistribution(Float64Array.from(values), TIMES);
}

/** Amounts of all sizes, with whatever digits. */
const amount = fc.oneof(fc.nat({ max: 2 ** 36 }), fc.double({ min: 0, max: 1e13, noNaN: true }));
const values = fc.array(amount, { minLength: 1, maxLength: 60 });
const fraction = fc.oneof(
  fc.nat({ max: 1e6 }).map((millionths) => millionths / 1e6),
  fc.constantFrom(1 - 2 ** -53, 0.9, 0.99),
);

pure("samplesDistribution() has 200 at P50 and 280 at P90 of [100,200,300]", () => {
  const { quantile, ...rest } = of([300, 100, 200]);
  assert.deepEqual(rest, { count: 3, min: 100, max: 300, ...TIMES });
  assert.deepEqual([0, 0.5, 0.9, 1].map(quantile), [100, 200, 280, 300]);
  assert.equal(of([7]).quantile(0.95), 7);
});

pure("samplesDistribution() is exact in whole numbers where the quantile is whole", () => {
  const whole = fc.nat({ max: 2 ** 36 });
  const some = fc.oneof(whole, whole.map((one) => 100 * Math.floor(one / 100)));
  const all = fc.array(some, { minLength: 1, maxLength: 60 });
  fc.assert(fc.property(all, fc.constantFrom(50, 90, 95, 99), (drawn, share) => {
    const ordered = drawn.map(BigInt).toSorted((a, b) => (a < b ? -1 : 1));
    const hundredths = BigInt(share) * BigInt(drawn.length - 1);
    const low = ordered[Number(hundredths / 100n)]!;
    const high = ordered[Number(hundredths / 100n) + 1] ?? low;
    const exact = 100n * low + (high - low) * (hundredths % 100n);
    const found = of(drawn).quantile(share / 100);
    if (exact % 100n === 0n) assert.equal(found, Number(exact / 100n));
    else assert.ok(Math.abs(found - Number(exact) / 100) <= 1e-4);
  }));
});

pure("property 13: samplesDistribution() never falls as the fraction grows", () => {
  fc.assert(fc.property(values, fraction, fraction, (drawn, a, b) => {
    const { min, max, quantile } = of(drawn);
    const ordered = [min, quantile(Math.min(a, b)), quantile(Math.max(a, b)), max];
    assert.deepEqual(ordered, ordered.toSorted((a, b) => a - b));
    const ranks = [min, ...FRACTIONS.map(quantile), max];
    assert.deepEqual(ranks, ranks.toSorted((a, b) => a - b));
  }));
});

pure("compactDistribution() has all whole percents exactly, and stays between two of them", () => {
  const long = fc.array(fc.double({ min: 0, max: 1e12, noNaN: true }), {
    minLength: 102,
    maxLength: 400,
  });
  fc.assert(fc.property(long, fraction, (drawn, between) => {
    const { quantile: exact, ...figures } = of(drawn);
    const { quantile: compact, ...same } = compactDistribution(of(drawn));
    assert.deepEqual(same, figures);
    const percents = Array.from({ length: 101 }, (_, percent) => percent / 100);
    assert.deepEqual(percents.map(compact), percents.map(exact));
    const found = compact(between);
    const [low, high] = [Math.floor(between * 100) / 100, Math.ceil(between * 100) / 100].map(
      exact,
    );
    const least = Math.abs(found) * 1e-12;
    assert.ok(low! - least <= found && found <= high! + least, `${low} ${found} ${high}`);
  }));
});

pure("compactDistribution() keeps no samples but those of a short distribution", () => {
  const long = of(Array.from({ length: 1000 }, (_, index) => index));
  let asked = 0;
  const compact = compactDistribution({
    ...long,
    quantile(fraction) {
      asked++;
      return long.quantile(fraction);
    },
  });
  assert.equal(compact.quantile(0.9), long.quantile(0.9));
  assert.equal(asked, 101);
  const short = of(Array.from({ length: 101 }, (_, index) => index));
  assert.equal(compactDistribution(short), short);
});

pure("usageSummaryOf() keeps percentiles, of resources with samples", () => {
  const container = "app";
  const [three, one, none] = [of([100, 200, 300]), of([1000]), of([])];
  const cpu = { samples: 3, min: 100, p50: 200, p90: 280, p95: 290, p99: 298, max: 300 };
  const memory = { samples: 1, min: 1000, p50: 1000, p90: 1000, p95: 1000, p99: 1000, max: 1000 };
  assert.deepEqual(usageSummaryOf({ container, cpu: three, memory: one }), {
    container,
    cpu,
    memory,
  });
  assert.deepEqual(usageSummaryOf({ container, cpu: three, memory: none }), { container, cpu });
  assert.deepEqual(usageSummaryOf({ container, cpu: none, memory: one }), { container, memory });
  assert.deepEqual(usageSummaryOf({ container, cpu: none, memory: none }), { container });
});

pure("usageSummaryOf() is in order and in whole numbers, whatever was seen", () => {
  const value = fc.double({ min: 0, max: 1e300, noNaN: true });
  fc.assert(fc.property(fc.array(value, { minLength: 1, maxLength: 50 }), (drawn) => {
    const { cpu } = usageSummaryOf({ container: "app", cpu: of(drawn), memory: of(drawn) });
    assert.ok(cpu !== undefined);
    const { samples, min, p50, p90, p95, p99, max } = cpu;
    const figures = [min, p50, p90, p95, p99, max];
    assert.equal(samples, drawn.length);
    assert.deepEqual(figures, figures.toSorted((a, b) => a - b));
    assert.ok(figures.every(Number.isSafeInteger));
  }));
});

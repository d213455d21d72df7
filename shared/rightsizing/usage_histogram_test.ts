import fc from "fast-check";
import assert from "node:assert/strict";
import { distributionOfSamples, type UsageSample } from "./distribution.ts";
import {
  addCount,
  addSample,
  BLOCK,
  BUCKET_SCALES,
  bucketOf,
  bucketValue,
  countAt,
  createUsageHistogram,
  distributionOfHistograms,
  mergeInto,
  RELATIVE_ERROR,
  type UsageHistogram,
} from "./usage_histogram.ts";

const { cpu, memory } = BUCKET_SCALES;

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const cpuValue = fc.double({ min: 1, max: 2 ** 20, noNaN: true });
const memoryValue = fc.integer({ min: 2 ** 20, max: 2 ** 44 });

pure("bucketValue() of bucketOf() is within the relative error, of both resources", () => {
  fc.assert(
    fc.property(cpuValue, memoryValue, (millicores, bytes) => {
      for (const [value, scale] of [[millicores, cpu], [bytes, memory]] as const) {
        const found = bucketValue(bucketOf(value, scale), scale);
        assert.ok(
          Math.abs(found - value) <= RELATIVE_ERROR * value * (1 + 1e-9),
          `${found} for ${value}`,
        );
      }
    }),
  );
});

pure("bucketOf() takes what is below the least for nothing, zero too", () => {
  assert.equal(bucketOf(0, cpu), -1);
  assert.equal(bucketOf(0.999, cpu), -1);
  assert.equal(bucketOf(1, cpu), 0);
  assert.equal(bucketOf(2 ** 20 - 1, memory), -1);
  assert.equal(bucketOf(2 ** 20, memory), 0);
  assert.equal(bucketValue(-1, memory), 0);
});

pure("bucketOf() needs all buckets for its range, and keeps what is beyond in the last", () => {
  assert.equal(bucketOf(2 ** 20, cpu), cpu.buckets - 1);
  assert.equal(bucketOf(2 ** 44, memory), memory.buckets - 1);
  assert.equal(bucketOf(1e300, cpu), cpu.buckets - 1);
  assert.equal(bucketOf(1e300, memory), memory.buckets - 1);
});

pure("bucketOf() never falls as the value grows", () => {
  fc.assert(
    fc.property(cpuValue, cpuValue, (a, b) => {
      assert.ok(bucketOf(Math.min(a, b), cpu) <= bucketOf(Math.max(a, b), cpu));
    }),
  );
});

const NOW_MS = 1_800_000_000_000;
const WINDOW = { nowMs: NOW_MS, windowMs: 1_000_000 } as const;
const scale = BUCKET_SCALES.cpu;
const FRACTIONS = [0, 0.01, 0.5, 0.9, 0.95, 0.99, 1];

function filled(samples: readonly UsageSample[]): UsageHistogram {
  const histogram = createUsageHistogram();
  for (const sample of samples) addSample(histogram, sample, { scale });
  return histogram;
}

function distributionOf(histogram: UsageHistogram): ReturnType<typeof distributionOfHistograms> {
  return distributionOfHistograms([histogram], { scale, emptyMs: 0 });
}

/** Counts by bucket, whatever span they are kept in. */
function content(histogram: UsageHistogram): unknown {
  const { count, min, max, oldestMs, newestMs, tiny, first, counts } = histogram;
  const buckets = [...counts.keys()].map((place) => first + place)
    .map((bucket) => [bucket, countAt(histogram, bucket)])
    .filter(([, samples]) => samples !== 0);
  return { count, min, max, oldestMs, newestMs, tiny, buckets };
}

/** Of all sizes, with the logarithms drawn evenly; some are zero or below the first bucket. */
const value = fc.oneof(
  { arbitrary: fc.nat({ max: 1e6 }).map((part) => 2 ** (20 * part / 1e6)), weight: 3 },
  fc.nat({ max: 999 }).map((micro) => micro / 1000),
  fc.constantFrom(0, 1, 1000),
);
const sample = fc.record({ atMs: fc.integer({ min: NOW_MS - 999_999, max: NOW_MS }), value });
const samples = fc.array(sample, { minLength: 1, maxLength: 150 });

pure(
  "distributionOfHistograms() is within 1 % of the exact quantile, and 1 m where it is tiny",
  () => {
    fc.assert(
      fc.property(samples, (drawn) => {
        const exact = distributionOfSamples(drawn, WINDOW);
        const found = distributionOf(filled(drawn));
        const tiny = exact.min < scale.least;
        for (const fraction of FRACTIONS) {
          const expected = exact.quantile(fraction);
          const allowed = RELATIVE_ERROR * expected * (1 + 1e-9) + (tiny ? scale.least : 0);
          const error = Math.abs(found.quantile(fraction) - expected);
          assert.ok(error <= allowed, `${error} at ${fraction} of ${expected}`);
        }
      }),
    );
  },
);

pure("distributionOfHistograms() has count, times, minimum and maximum exactly", () => {
  fc.assert(fc.property(samples, (drawn) => {
    const exact = distributionOfSamples(drawn, WINDOW);
    const found = distributionOf(filled(drawn));
    for (const field of ["count", "min", "max", "oldestMs", "newestMs"] as const) {
      assert.equal(found[field], exact[field], field);
    }
    assert.equal(found.quantile(0), exact.min);
    assert.equal(found.quantile(1), exact.max);
  }));
});

pure("property 13: distributionOfHistograms() has P50 ≤ P90 ≤ P99 within min and max", () => {
  fc.assert(fc.property(samples, (drawn) => {
    const found = distributionOf(filled(drawn));
    const ranks = [0.5, 0.9, 0.95, 0.99].map((fraction) => found.quantile(fraction));
    const ordered = [found.min, ...ranks, found.max];
    assert.deepEqual(ordered, ordered.toSorted((a, b) => a - b));
  }));
});

pure("distributionOfHistograms() of equal samples is that sample, not its bucket's", () => {
  const found = distributionOf(
    filled([1, 2, 3].map((back) => ({ atMs: NOW_MS - back, value: 123.456 }))),
  );
  for (const fraction of FRACTIONS) assert.equal(found.quantile(fraction), 123.456);
});

pure("distributionOfHistograms() of nothing has no quantile", () => {
  const none = distributionOfHistograms([createUsageHistogram()], { scale, emptyMs: 7 });
  const { count, min, max, oldestMs, newestMs } = none;
  assert.deepEqual({ count, min, max, oldestMs, newestMs }, {
    count: 0,
    min: 0,
    max: 0,
    oldestMs: 7,
    newestMs: 7,
  });
  assert.throws(() => none.quantile(0.5), RangeError);
});

pure("distributionOfHistograms() stays what it was when samples come later", () => {
  const histogram = filled([{ atMs: NOW_MS, value: 100 }, { atMs: NOW_MS, value: 200 }]);
  const before = distributionOf(histogram);
  for (let i = 0; i < 50; i++) addSample(histogram, { atMs: NOW_MS, value: 900 }, { scale });
  assert.equal(before.count, 2);
  assert.equal(before.quantile(0.5), 150);
  assert.equal(distributionOf(histogram).max, 900);
});

pure("distributionOfHistograms() of several is that of all their samples", () => {
  const parts = fc.array(fc.array(sample, { maxLength: 40 }), { maxLength: 6 });
  const all = (distribution: ReturnType<typeof distributionOf>): unknown => {
    const { quantile, ...rest } = distribution;
    return { ...rest, quantiles: rest.count === 0 ? [] : FRACTIONS.map(quantile) };
  };
  fc.assert(fc.property(parts, (drawn) => {
    const apart = distributionOfHistograms(drawn.map(filled), { scale, emptyMs: 0 });
    assert.deepEqual(all(apart), all(distributionOf(filled(drawn.flat()))));
  }));
});

pure("distributionOfHistograms() counts what was carried out of buckets", () => {
  const heavy = (bucket: number, count: number): UsageHistogram => {
    const histogram = filled([{ atMs: NOW_MS, value: 1 }, { atMs: NOW_MS, value: 2 ** 20 }]);
    addCount(histogram, { bucket, count });
    return histogram;
  };
  const histograms = [heavy(100, 200_000), heavy(300, 100_000)];
  const found = distributionOfHistograms(histograms, { scale, emptyMs: 0 });
  assert.equal(found.count, 300_004);
  assert.equal(found.quantile(0.66), bucketValue(100, scale));
  assert.equal(found.quantile(0.67), bucketValue(300, scale));
});

pure("mergeInto() is as if all samples had come into one, in either order", () => {
  fc.assert(fc.property(samples, samples, (one, other) => {
    const together = content(filled([...one, ...other]));
    const forth = filled(one);
    mergeInto(forth, filled(other));
    const back = filled(other);
    mergeInto(back, filled(one));
    assert.deepEqual(content(forth), together);
    assert.deepEqual(content(back), together);
  }));
});

pure("mergeInto() leaves its source alone, and nothing adds nothing", () => {
  const source = filled([{ atMs: NOW_MS, value: 5 }]);
  const before = content(source);
  const target = filled([{ atMs: NOW_MS, value: 700 }]);
  mergeInto(target, source);
  assert.deepEqual(content(source), before);
  mergeInto(source, createUsageHistogram());
  assert.deepEqual(content(source), before);
});

pure("addCount() counts beyond 65,535 in one bucket, and merges such counts", () => {
  const count = fc.integer({ min: 1, max: 200_000 });
  fc.assert(fc.property(fc.array(count, { minLength: 1, maxLength: 8 }), (drawn) => {
    const sum = drawn.reduce((total, one) => total + one, 0);
    const histogram = createUsageHistogram();
    for (const one of drawn) addCount(histogram, { bucket: 40, count: one });
    assert.equal(countAt(histogram, 40), sum);
    assert.equal(countAt(histogram, 41), 0);
    assert.equal(histogram.count, sum);
    const target = createUsageHistogram();
    mergeInto(target, histogram);
    mergeInto(target, histogram);
    assert.equal(countAt(target, 40), 2 * sum);
    assert.ok((histogram.carries?.size ?? 0) <= 1);
  }));
});

pure("addSample() keeps only the span of buckets that are in use, in whole blocks", () => {
  const narrow = filled([200, 210, 220].map((millicores) => ({ atMs: 0, value: millicores })));
  assert.ok(narrow.counts.length <= 2 * BLOCK);
  // Zero and what is tiny need no bucket.
  assert.equal(filled([{ atMs: 0, value: 0 }, { atMs: 0, value: 0.5 }]).counts.length, 0);
  const wide = filled([{ atMs: 0, value: 1 }, { atMs: 0, value: 2 ** 30 }]);
  assert.equal(wide.counts.length, Math.ceil(scale.buckets / BLOCK) * BLOCK);
});

import fc from "fast-check";
import assert from "node:assert/strict";
import {
  compactDistribution,
  type Distribution,
  distributionOfSamples,
  interpolatedQuantile,
  sampleFault,
  samplesDistribution,
  usageSummaryOf,
} from "./distribution.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function quantile(values: readonly number[], fraction: number): number {
  const ordered = values.toSorted((a, b) => a - b);
  return interpolatedQuantile(
    { count: ordered.length, valueAt: (rank) => ordered[rank]! },
    fraction,
  );
}

const values = fc.array(fc.nat({ max: 2 ** 36 }), { minLength: 1, maxLength: 60 });
const fraction = fc.oneof(
  fc.nat({ max: 1e6 }).map((millionths) => millionths / 1e6),
  fc.constantFrom(1 - 2 ** -53, 0.9, 0.99),
);

pure("interpolatedQuantile() is the middle of [100,200,300] at P50 and 280 at P90", () => {
  assert.equal(quantile([100, 200, 300], 0.5), 200);
  assert.equal(quantile([100, 200, 300], 0.9), 280);
  assert.equal(quantile([100, 200, 300], 0), 100);
  assert.equal(quantile([100, 200, 300], 1), 300);
  assert.equal(quantile([7], 0.95), 7);
});

pure("interpolatedQuantile() is exact in whole numbers where the quantile is whole", () => {
  const percent = fc.constantFrom(50, 90, 95, 99);
  const inHundreds = values.map((drawn) => drawn.map((one) => 100 * Math.floor(one / 100)));
  const some = fc.oneof(values, inHundreds);
  fc.assert(
    fc.property(some, percent, (drawn, share) => {
      const ordered = drawn.map(BigInt).toSorted((a, b) => (a < b ? -1 : 1));
      const hundredths = BigInt(share) * BigInt(drawn.length - 1);
      const below = Number(hundredths / 100n);
      const low = ordered[below]!;
      const high = ordered[below + 1] ?? low;
      const exact = 100n * low + (high - low) * (hundredths % 100n);
      const found = quantile(drawn, share / 100);
      if (exact % 100n === 0n) assert.equal(found, Number(exact / 100n));
      else assert.ok(Math.abs(found - Number(exact) / 100) <= 1e-4);
    }),
  );
});

pure("interpolatedQuantile() stays between two neighbours, whatever their digits", () => {
  const amount = fc.double({ min: 0, max: 1e13, noNaN: true });
  const near = fc.tuple(amount, fc.double({ min: 1, max: 4, noNaN: true }))
    .map(([low, factor]): [number, number] => [low, low * factor]);
  fc.assert(
    fc.property(near, fraction, ([low, high], share) => {
      const found = quantile([low, high], share);
      assert.ok(low <= found && found <= high, `${found} of ${low} and ${high}`);
    }),
  );
});

pure(
  "interpolatedQuantile() never falls as the fraction grows, and stays within the values",
  () => {
    fc.assert(fc.property(values, fraction, fraction, (drawn, a, b) => {
      const low = quantile(drawn, Math.min(a, b));
      const high = quantile(drawn, Math.max(a, b));
      assert.ok(Math.min(...drawn) <= low && low <= high && high <= Math.max(...drawn));
    }));
  },
);

pure("interpolatedQuantile() refuses fractions outside of 0..1, and no values", () => {
  for (const wrong of [-0.1, 1.1, NaN]) {
    assert.throws(() => quantile([1], wrong), {
      name: "RangeError",
      message: new RegExp(`: ${wrong} `),
    });
  }
  assert.throws(() => quantile([], 0.5), /^RangeError: .* 0 samples/);
});

const WINDOW = { nowMs: 1000, windowMs: 600 } as const;

pure("sampleFault() leaves out the window's start and takes its end", () => {
  assert.equal(sampleFault({ atMs: 400, value: 1 }, WINDOW), "too old");
  assert.equal(sampleFault({ atMs: 401, value: 1 }, WINDOW), undefined);
  assert.equal(sampleFault({ atMs: 1000, value: 1 }, WINDOW), undefined);
  assert.equal(sampleFault({ atMs: 1001, value: 1 }, WINDOW), "from the future");
});

pure("sampleFault() takes 0, and nothing that is no amount or has no time", () => {
  assert.equal(sampleFault({ atMs: 900, value: 0 }, WINDOW), undefined);
  for (const value of [NaN, -1, -1e-9, Infinity, -Infinity]) {
    assert.equal(sampleFault({ atMs: 900, value }, WINDOW), "not a quantity", String(value));
  }
  assert.equal(sampleFault({ atMs: NaN, value: 1 }, WINDOW), "not a quantity");
});

const NOW_MS = 1_800_000_000_000;
const WINDOW_MS = 86_400_000;
const SAMPLES_WINDOW = { nowMs: NOW_MS, windowMs: WINDOW_MS } as const;

const time = fc.oneof(
  fc.integer({ min: NOW_MS - 2 * WINDOW_MS, max: NOW_MS + WINDOW_MS }),
  fc.constantFrom(NOW_MS - WINDOW_MS, NOW_MS - WINDOW_MS + 1, NOW_MS, NOW_MS + 1),
);
const sample = fc.record({
  atMs: time,
  value: fc.oneof(
    fc.nat({ max: 1e15 }).map((thousandths) => thousandths / 1000),
    fc.constantFrom(0, NaN, -1, Infinity),
  ),
});
const samples = fc.array(sample, { maxLength: 80 });

pure("distributionOfSamples() pools the samples of all pods, in any order", () => {
  const pods = [[300, 100], [200]];
  const pooled = pods.flatMap((values, pod) =>
    values.map((value, index) => ({ atMs: NOW_MS - 60_000 * (pod + index), value }))
  );
  const all = distributionOfSamples(pooled, SAMPLES_WINDOW);
  assert.deepEqual([all.count, all.min, all.max], [3, 100, 300]);
  assert.deepEqual([0.5, 0.9].map(all.quantile), [200, 280]);
  assert.deepEqual([all.oldestMs, all.newestMs], [NOW_MS - 60_000, NOW_MS]);
});

pure("distributionOfSamples() of nothing has no quantile, and saw nothing since the start", () => {
  const none = distributionOfSamples([{ atMs: NOW_MS, value: NaN }], SAMPLES_WINDOW);
  assert.equal(none.count, 0);
  assert.equal(none.newestMs, NOW_MS - WINDOW_MS);
  assert.equal(none.oldestMs, NOW_MS - WINDOW_MS);
  assert.throws(() => none.quantile(0.5), RangeError);
});

pure(
  "property 12: distributionOfSamples() takes samples of (now − window, now] and no others",
  () => {
    fc.assert(fc.property(samples, (drawn) => {
      const inside = drawn.filter(({ atMs, value }) =>
        value >= 0 && value < Infinity && NOW_MS - WINDOW_MS < atMs && atMs <= NOW_MS
      );
      const found = distributionOfSamples(drawn, SAMPLES_WINDOW);
      assert.equal(found.count, inside.length);
      if (inside.length === 0) return;
      assert.equal(found.oldestMs, Math.min(...inside.map(({ atMs }) => atMs)));
      assert.equal(found.newestMs, Math.max(...inside.map(({ atMs }) => atMs)));
      assert.ok(found.oldestMs > NOW_MS - WINDOW_MS && found.newestMs <= NOW_MS);
      assert.equal(found.min, Math.min(...inside.map(({ value }) => value)));
      assert.equal(found.max, Math.max(...inside.map(({ value }) => value)));
    }));
  },
);

pure("property 13: distributionOfSamples() has P50 ≤ P90 ≤ P99 within min and max", () => {
  fc.assert(fc.property(samples, (drawn) => {
    const found = distributionOfSamples(drawn, SAMPLES_WINDOW);
    if (found.count === 0) return;
    const ranks = [0.5, 0.9, 0.95, 0.99].map((fraction) => found.quantile(fraction));
    const ordered = [found.min, ...ranks, found.max];
    assert.deepEqual(ordered, ordered.toSorted((a, b) => a - b));
  }));
});

function of(values: readonly number[]): Distribution {
  return samplesDistribution(Float64Array.from(values), { oldestMs: 5, newestMs: 7 });
}

const drawnValues = fc.array(fc.double({ min: 0, max: 1e12, noNaN: true }), {
  minLength: 102,
  maxLength: 400,
});

pure("compactDistribution() has all whole percents exactly, and count, extremes and times", () => {
  fc.assert(fc.property(drawnValues, (values) => {
    const [exact, compact] = [of(values), compactDistribution(of(values))];
    for (let percent = 0; percent <= 100; percent++) {
      const fraction = percent / 100;
      assert.equal(compact.quantile(fraction), exact.quantile(fraction), `P${percent}`);
    }
    const { quantile: _exact, ...figures } = exact;
    const { quantile: _compact, ...same } = compact;
    assert.deepEqual(same, figures);
  }));
});

pure("compactDistribution() stays between the percents on both sides of a fraction", () => {
  fc.assert(
    fc.property(drawnValues, fc.double({ min: 0, max: 1, noNaN: true }), (values, fraction) => {
      const [exact, compact] = [of(values), compactDistribution(of(values))];
      const found = compact.quantile(fraction);
      const low = exact.quantile(Math.floor(fraction * 100) / 100);
      const high = exact.quantile(Math.ceil(fraction * 100) / 100);
      const least = Math.abs(found) * 1e-12;
      assert.ok(low - least <= found && found <= high + least, `${low} ${found} ${high}`);
    }),
  );
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
  assert.equal(asked, 101);
  assert.equal(compact.quantile(0.9), long.quantile(0.9));
  assert.equal(asked, 101);
  const short = of(Array.from({ length: 101 }, (_, index) => index));
  assert.equal(compactDistribution(short), short);
});

const LONG_WINDOW = { nowMs: 1_000_000, windowMs: 1_000_000 };

function distribution(values: readonly number[]) {
  return distributionOfSamples(
    values.map((value, index) => ({ value, atMs: 1 + index })),
    LONG_WINDOW,
  );
}

pure("usageSummaryOf() keeps the percentiles that recommendations are made of", () => {
  const cpu = distribution([100, 200, 300]);
  const memory = distribution([1000]);
  assert.deepEqual(usageSummaryOf({ container: "app", cpu, memory }), {
    container: "app",
    cpu: { samples: 3, min: 100, p50: 200, p90: 280, p95: 290, p99: 298, max: 300 },
    memory: { samples: 1, min: 1000, p50: 1000, p90: 1000, p95: 1000, p99: 1000, max: 1000 },
  });
});

pure("usageSummaryOf() leaves out what has no samples", () => {
  const [some, none] = [distribution([5]), distribution([])];
  const cpu = usageSummaryOf({ container: "app", cpu: some, memory: none });
  assert.deepEqual(Object.keys(cpu), ["container", "cpu"]);
  const memory = usageSummaryOf({ container: "app", cpu: none, memory: some });
  assert.deepEqual(Object.keys(memory), ["container", "memory"]);
  const neither = usageSummaryOf({ container: "app", cpu: none, memory: none });
  assert.deepEqual(neither, { container: "app" });
});

pure("usageSummaryOf() is in order and in whole numbers, whatever was seen", () => {
  const value = fc.double({ min: 0, max: 1e300, noNaN: true });
  fc.assert(
    fc.property(fc.array(value, { minLength: 1, maxLength: 50 }), (values) => {
      const some = distribution(values);
      const { cpu } = usageSummaryOf({ container: "app", cpu: some, memory: some });
      assert.ok(cpu !== undefined);
      const { samples, min, p50, p90, p95, p99, max } = cpu;
      const figures = [min, p50, p90, p95, p99, max];
      assert.equal(samples, values.length);
      assert.deepEqual(figures, figures.toSorted((a, b) => a - b));
      assert.ok(figures.every(Number.isSafeInteger));
    }),
  );
});

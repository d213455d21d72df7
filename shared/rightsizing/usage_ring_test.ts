import fc from "fast-check";
import assert from "node:assert/strict";
import { forAll } from "../../tests/fixtures/for_all.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { distributionOfSamples } from "../../tests/fixtures/rightsizing/usage_answers.ts";
import {
  compactDistribution,
  type Distribution,
  samplesDistribution,
  type UsageSample,
  usageSummaryOf,
} from "./distribution.ts";
import {
  BUCKET_SCALES,
  createContainerRings,
  RELATIVE_ERROR,
  restoredRings,
  storedRings,
  storedRingsSchema,
  UsageRing,
} from "./usage_ring.ts";

const HOUR_MS = 3_600_000;
const WINDOW_MS = 24 * HOUR_MS;
const SLOT_MS = 1.5 * HOUR_MS;
const NOW_MS = Math.floor(1_800_000_000_000 / SLOT_MS) * SLOT_MS;
const WINDOW = { nowMs: NOW_MS, windowMs: WINDOW_MS } as const;
const SHAPE = { windowMs: WINDOW_MS } as const;
const FRACTIONS = [0, 0.01, 0.5, 0.9, 0.95, 0.99, 1];
const RESOURCES = ["cpu", "memory"] as const;

function filled(samples: readonly UsageSample[], resource: "cpu" | "memory" = "cpu"): UsageRing {
  const ring = new UsageRing(resource, SHAPE);
  for (const sample of samples) ring.add(sample, NOW_MS);
  return ring;
}

function figuresOf({ quantile, ...rest }: Distribution): unknown {
  return { ...rest, quantiles: rest.count === 0 ? [] : FRACTIONS.map(quantile) };
}

/** Whole nanocores, of all sizes with the logarithms drawn evenly; some are zero or below the first bucket. */
const value = fc.oneof(
  {
    arbitrary: fc.nat({ max: 1e6 }).map((part) => Math.round(1e6 * 2 ** (20 * part / 1e6)) / 1e6),
    weight: 3,
  },
  fc.nat({ max: 999 }).map((micro) => micro / 1000),
  fc.constantFrom(0, 0.5, 1, 1000),
);
const atMs = fc.oneof(
  fc.integer({ min: NOW_MS - 2 * WINDOW_MS, max: NOW_MS + HOUR_MS }),
  fc.integer({ min: NOW_MS - WINDOW_MS + 1, max: NOW_MS }),
  fc.integer({ min: -17, max: 1 }).map((slot) => NOW_MS + slot * SLOT_MS),
);
const samples = fc.array(fc.record({ atMs, value }), { maxLength: 120 });
/** Those that count in each ring with this window. */
const insideMs = fc.integer({ min: NOW_MS - WINDOW_MS + SLOT_MS, max: NOW_MS });

const bytes = fc.oneof(fc.integer({ min: 2 ** 20, max: 2 ** 44 }), fc.nat({ max: 2 ** 21 }));

for (const [resource, amounts] of [["cpu", value], ["memory", bytes]] as const) {
  forAll(`UsageRing has exact count and extremes, and quantiles within 1 % (${resource})`, [
    fc.array(fc.record({ atMs: insideMs, value: amounts }), { minLength: 1, maxLength: 150 }),
  ], (drawn) => {
    const { quantile: exact, ...figures } = distributionOfSamples(drawn, WINDOW);
    const { quantile, ...found } = filled(drawn, resource).distribution(WINDOW);
    assert.deepEqual(found, figures);
    const { start } = BUCKET_SCALES[resource];
    for (const fraction of FRACTIONS) {
      const expected = exact(fraction);
      const tiny = figures.min < start ? start : 0;
      const allowed = RELATIVE_ERROR * expected * (1 + 1e-9) + tiny;
      const error = Math.abs(quantile(fraction) - expected);
      assert.ok(error <= allowed, `${error} at ${fraction} of ${expected}`);
    }
    assert.deepEqual([quantile(0), quantile(1)], [figures.min, figures.max]);
    const ranks = FRACTIONS.map(quantile);
    assert.deepEqual(ranks, ranks.toSorted((a, b) => a - b));
  }, 1);
}

pure("UsageRing gives equal samples back, and keeps what is beyond its scale", () => {
  const of = (values: readonly number[]) =>
    filled(values.map((value, back) => ({ atMs: NOW_MS - back, value }))).distribution(WINDOW);
  const equal = FRACTIONS.map(of([123.456, 123.456, 123.456]).quantile);
  assert.deepEqual(equal, FRACTIONS.map(() => 123.456));
  assert.equal(of([0.5, 0.5, 0.5, 0.7]).quantile(0.3), 0.5, "never below the least sample");
  const beyond = of([1, 2 ** 21, 2 ** 22]);
  assert.ok(beyond.quantile(0.5) > 2 ** 20 / 1.03 && beyond.max === 2 ** 22);
  const times = { oldestMs: NOW_MS - WINDOW_MS, newestMs: NOW_MS - WINDOW_MS };
  assert.deepEqual(figuresOf(of([])), { count: 0, min: 0, max: 0, ...times, quantiles: [] });
});

forAll("property 12: UsageRing answers with the samples of a window, all but those of a slot", [
  samples,
  fc.integer({ min: 1, max: WINDOW_MS }),
  // The clock may have been set back since: nothing of what lies ahead may count.
  fc.integer({ min: -2 * HOUR_MS, max: WINDOW_MS }),
], (drawn, windowMs, shift) => {
  const nowMs = NOW_MS + shift;
  const found = filled(drawn).distribution({ nowMs, windowMs });
  assert.ok(found.count <= distributionOfSamples(drawn, { nowMs, windowMs }).count);
  assert.ok(found.count === 0 || found.oldestMs > nowMs - windowMs && found.newestMs <= nowMs);
  const whole = filled(drawn).distribution(WINDOW);
  const most = distributionOfSamples(drawn, WINDOW);
  const least = distributionOfSamples(drawn, { ...WINDOW, windowMs: WINDOW_MS - SLOT_MS });
  assert.ok(whole.count >= least.count && whole.count <= most.count);
  assert.ok(whole.newestMs === most.newestMs || least.count === 0);
}, 1);

const twoOrders = samples.chain((drawn) =>
  fc.tuple(fc.constant(drawn), fc.shuffledSubarray(drawn, { minLength: drawn.length }))
);

forAll("UsageRing takes late samples to the slot of their time", [twoOrders], (orders) => {
  for (const windowMs of [WINDOW_MS, WINDOW_MS / 2]) {
    const [one, other] = orders.map((all) =>
      figuresOf(filled(all).distribution({ nowMs: NOW_MS, windowMs }))
    );
    assert.deepEqual(one, other);
  }
}, 1);

pure("UsageRing drops samples a window old, and survives a clock set back", () => {
  const ring = filled([{ atMs: NOW_MS, value: 900 }]);
  const at = (nowMs: number) => {
    const { count, max } = ring.distribution({ ...WINDOW, nowMs });
    return [count, max];
  };
  ring.add({ atMs: NOW_MS + WINDOW_MS - SLOT_MS, value: 100 }, NOW_MS + WINDOW_MS - SLOT_MS);
  assert.deepEqual(at(NOW_MS + WINDOW_MS - 1), [2, 900]);
  assert.deepEqual(at(NOW_MS + WINDOW_MS), [1, 100]);
  const backMs = NOW_MS - 3 * WINDOW_MS;
  ring.add({ atMs: backMs, value: 50 }, backMs);
  assert.deepEqual([...at(backMs), ring.contents().length], [1, 50, 1]);
});

pure("UsageRing keeps nothing that is too old, from the future or no quantity", () => {
  const ring = filled([
    { atMs: NOW_MS - WINDOW_MS, value: 1 },
    { atMs: NOW_MS + 1, value: 1 },
    ...[NaN, -1, Infinity].map((value) => ({ atMs: NOW_MS, value })),
  ]);
  assert.deepEqual(ring.contents(), []);
});

const inside = fc.array(fc.record({ atMs: insideMs, value }), { maxLength: 120 });

forAll("absorb() is as if samples had come here", [inside, inside], (one, other) => {
  const [ring, source] = [filled(one), filled(other)];
  const before = structuredClone(source.contents());
  ring.absorb(source.contents(), NOW_MS);
  const together = filled([...one, ...other]).distribution(WINDOW);
  assert.deepEqual(figuresOf(ring.distribution(WINDOW)), figuresOf(together));
  assert.deepEqual(source.contents(), before);
}, 1);

pure("absorb() takes a slot to where it leaves with its oldest sample, and no other along", () => {
  const halfDay = { windowMs: WINDOW_MS / 2 };
  const old = filled([{ atMs: NOW_MS - SLOT_MS, value: 1 }, { atMs: NOW_MS - 1, value: 2 }]);
  assert.equal(old.contents().length, 1);
  const ring = new UsageRing("cpu", halfDay);
  ring.add({ atMs: NOW_MS - SLOT_MS / 2, value: 3 }, NOW_MS);
  ring.absorb(old.contents(), NOW_MS);
  const counts = [-SLOT_MS - 1, -SLOT_MS, -SLOT_MS / 2].map((back) => {
    const nowMs = NOW_MS + halfDay.windowMs + back;
    return ring.distribution({ ...halfDay, nowMs }).count;
  });
  assert.deepEqual(counts, [3, 1, 0]);
});

forAll("absorb() into another shape keeps no sample longer than its window", [
  samples,
  fc.integer({ min: HOUR_MS, max: 7 * WINDOW_MS }),
  fc.integer({ min: 0, max: WINDOW_MS }),
], (drawn, windowMs, laterMs) => {
  const ring = new UsageRing("cpu", { windowMs });
  ring.absorb(filled(drawn).contents(), NOW_MS);
  const window = { nowMs: NOW_MS + laterMs, windowMs };
  const found = ring.distribution(window);
  assert.ok(found.count <= distributionOfSamples(drawn, window).count);
  if (found.count > 0) assert.ok(found.oldestMs > window.nowMs - windowMs);
  // Into a wider one everything goes that was still counted.
  if (windowMs < WINDOW_MS || laterMs > 0) return;
  assert.equal(found.count, filled(drawn).distribution(WINDOW).count);
}, 1);

function countBytes(ring: UsageRing): number {
  return ring.contents().reduce((sum, { counts }) => sum + counts.byteLength, 0);
}

pure("UsageRing takes 52,224 bytes for both resources at most", () => {
  let bytes = 0;
  for (const resource of RESOURCES) {
    const { start } = BUCKET_SCALES[resource];
    const ring = new UsageRing(resource, SHAPE);
    // Three windows long, each slot with the least and the greatest: no more than 17 slots stay.
    for (let at = NOW_MS; at < NOW_MS + 3 * WINDOW_MS; at += SLOT_MS / 2) {
      ring.add({ atMs: at, value: start }, at);
      ring.add({ atMs: at, value: 2 ** 52 }, at);
    }
    assert.equal(ring.contents().length, 17);
    bytes += countBytes(ring);
  }
  assert.equal(bytes, 52_224);
  assert.ok(bytes + 34 * 450 < 0.07 * 2 ** 20, "with the objects' 450 bytes a slot");
  const narrow = filled(Array.from({ length: 2880 }, (_, index) => {
    const value = 200 * 2 ** ((index * 7919 % 100) / 100);
    return { atMs: NOW_MS - index * 30_000, value };
  }));
  assert.ok(countBytes(narrow) <= 17 * 2 * 4 * 16, `${countBytes(narrow)}`);
  assert.equal(countBytes(filled([{ atMs: NOW_MS, value: 0.5 }])), 0);
});

function stored(samples: readonly UsageSample[]) {
  const rings = createContainerRings(SHAPE);
  for (const sample of samples) {
    for (const resource of RESOURCES) rings[resource].add(sample, NOW_MS);
  }
  return { rings, json: storedRingsSchema.parse(JSON.parse(JSON.stringify(storedRings(rings)))) };
}

const sample = fc.record({
  atMs: fc.integer({ min: NOW_MS - WINDOW_MS + 1, max: NOW_MS }),
  value: fc.double({ min: 0, max: 1e16, noNaN: true }).map((one) => one < 1e-6 ? 0 : one),
});

forAll("property 31: restoredRings() has exactly what storedRings() was given", [
  fc.array(sample, { maxLength: 40 }),
], (samples) => {
  const { rings, json } = stored(samples);
  const restored = restoredRings(json, { shape: SHAPE, nowMs: NOW_MS });
  assert.deepEqual(storedRings(restored), storedRings(rings));
  for (const resource of RESOURCES) {
    const [one, other] = [rings, restored].map((all) => all[resource].distribution(WINDOW));
    assert.deepEqual(one && figuresOf(one), other && figuresOf(other));
  }
}, 1);

pure("restoredRings() counts more samples than a bucket's 16 bits hold", () => {
  const many = (count: number, value: number) =>
    Array.from({ length: count }, () => ({ atMs: NOW_MS, value }));
  const { json, rings } = stored([...many(140_000, 3e6), ...many(70_000, 7e6)]);
  const restored = restoredRings(json, { shape: SHAPE, nowMs: NOW_MS });
  for (const ring of [rings.memory, restored.memory]) {
    const { count, quantile } = ring.distribution(WINDOW);
    assert.equal(count, 210_000);
    const [below, above] = [0.66, 0.67].map(quantile);
    assert.ok(Math.abs(below! / 3e6 - 1) <= RELATIVE_ERROR, `${below}`);
    assert.ok(Math.abs(above! / 7e6 - 1) <= RELATIVE_ERROR, `${above}`);
  }
});

pure("restoredRings() goes on in another shape, within the window", () => {
  const seconds = [1, 2, 3, 40_000];
  const { json } = stored(seconds.map((s) => ({ atMs: NOW_MS - 1000 * s, value: 100 * s })));
  for (const shape of [SHAPE, { windowMs: 7 * WINDOW_MS, slots: 32 }]) {
    const rings = restoredRings(json, { shape, nowMs: NOW_MS });
    for (const resource of RESOURCES) {
      const { count, max, oldestMs } = rings[resource].distribution({ ...shape, nowMs: NOW_MS });
      assert.deepEqual([count, max, oldestMs], [4, 4_000_000, NOW_MS - 40_000_000]);
    }
  }
  const later = restoredRings(json, { shape: SHAPE, nowMs: NOW_MS + WINDOW_MS });
  assert.deepEqual(later.cpu.contents(), []);
});

pure("storedRingsSchema refuses more buckets and more slots than a ring has", () => {
  const slot = (first: number, counts = [1]) => [NOW_MS, NOW_MS, 1, 1, 0, first, counts];
  const of = (slots: readonly unknown[]) =>
    storedRingsSchema.safeParse({ cpu: slots, memory: slots }).success;
  assert.deepEqual([of([slot(832)]), of([slot(833)])], [true, false]);
  assert.equal(of([slot(0, Array(833).fill(1))]), false);
  assert.deepEqual([257, 258].map((count) => of(Array(count).fill(slot(0)))), [true, false]);
});

const TIMES = { oldestMs: 5, newestMs: 7 } as const;

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

const whole = fc.nat({ max: 2 ** 36 });
const hundreds = fc.oneof(whole, whole.map((one) => 100 * Math.floor(one / 100)));

forAll("samplesDistribution() is exact where the quantile is a whole number", [
  fc.array(hundreds, { minLength: 1, maxLength: 60 }),
  fc.constantFrom(50, 90, 95, 99),
], (drawn, share) => {
  const ordered = drawn.map(BigInt).toSorted((a, b) => (a < b ? -1 : 1));
  const hundredths = BigInt(share) * BigInt(drawn.length - 1);
  const low = ordered[Number(hundredths / 100n)]!;
  const high = ordered[Number(hundredths / 100n) + 1] ?? low;
  const exact = 100n * low + (high - low) * (hundredths % 100n);
  const found = of(drawn).quantile(share / 100);
  if (exact % 100n === 0n) assert.equal(found, Number(exact / 100n));
  else assert.ok(Math.abs(found - Number(exact) / 100) <= 1e-4);
}, 1);

forAll(
  "property 13: quantiles grow with the fraction",
  [values, fraction, fraction],
  (all, a, b) => {
    const { min, max, quantile } = of(all);
    const ordered = [min, quantile(Math.min(a, b)), quantile(Math.max(a, b)), max];
    assert.deepEqual(ordered, ordered.toSorted((a, b) => a - b));
  },
  1,
);

forAll("compactDistribution() has all whole percents exactly, and stays between two of them", [
  fc.array(fc.double({ min: 0, max: 1e12, noNaN: true }), { minLength: 102, maxLength: 400 }),
  fraction,
], (drawn, between) => {
  const { quantile: exact, ...figures } = of(drawn);
  const { quantile: compact, ...same } = compactDistribution(of(drawn));
  assert.deepEqual(same, figures);
  const percents = Array.from({ length: 101 }, (_, percent) => percent / 100);
  assert.deepEqual(percents.map(compact), percents.map(exact));
  const found = compact(between);
  const percent = between * 100;
  const [low, high] = [Math.floor(percent) / 100, Math.ceil(percent) / 100].map(exact);
  const least = Math.abs(found) * 1e-12;
  assert.ok(low! - least <= found && found <= high! + least, `${low} ${found} ${high}`);
}, 1);

pure("compactDistribution() keeps no samples but those of a short distribution", () => {
  const long = of(Array.from({ length: 1000 }, (_, index) => index));
  let asked = 0;
  const quantile = (fraction: number): number => {
    asked++;
    return long.quantile(fraction);
  };
  const compact = compactDistribution({ ...long, quantile });
  assert.deepEqual([compact.quantile(0.9), asked], [long.quantile(0.9), 101]);
  const short = of(Array.from({ length: 101 }, (_, index) => index));
  assert.equal(compactDistribution(short), short);
});

pure("usageSummaryOf() keeps percentiles, of resources with samples", () => {
  // P90 is 280.8, P95 290.9, P99 298.98.
  const [three, none] = [of([100, 200, 301]), of([])];
  const figures = { samples: 3, min: 100, p50: 200, p90: 281, p95: 291, p99: 299, max: 301 };
  const summary = (cpu: Distribution, memory: Distribution) =>
    usageSummaryOf({ container: "app", cpu, memory });
  const both = { container: "app", cpu: figures, memory: figures };
  assert.deepEqual(summary(three, three), both);
  assert.deepEqual(summary(three, none), { container: "app", cpu: figures });
  assert.deepEqual(summary(none, three), { container: "app", memory: figures });
  assert.equal(summary(of([1e300]), none).cpu?.p50, Number.MAX_SAFE_INTEGER);
});

import fc from "fast-check";
import assert from "node:assert/strict";
import { type Distribution, distributionOfSamples, type UsageSample } from "./distribution.ts";
import { BLOCK, BUCKET_SCALES, RELATIVE_ERROR } from "./usage_histogram.ts";
import {
  createContainerRings,
  createUsageRing,
  restoredRings,
  type StoredRings,
  storedRings,
  type UsageRing,
} from "./usage_ring.ts";

const HOUR_MS = 3_600_000;
const WINDOW_MS = 24 * HOUR_MS;
const SLOT_MS = 1.5 * HOUR_MS;
/** The beginning of a slot. */
const NOW_MS = Math.floor(1_800_000_000_000 / SLOT_MS) * SLOT_MS;
const WINDOW = { nowMs: NOW_MS, windowMs: WINDOW_MS } as const;
const FRACTIONS = [0, 0.5, 0.9, 0.95, 0.99, 1];

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function filled(samples: readonly UsageSample[], windowMs = WINDOW_MS): UsageRing {
  const ring = createUsageRing("cpu", { windowMs });
  for (const sample of samples) ring.add(sample, NOW_MS);
  return ring;
}

/** All that a distribution says, for comparing two. */
function figuresOf(distribution: Distribution): unknown {
  const { count, min, max, oldestMs, newestMs } = distribution;
  const quantiles = count === 0 ? [] : FRACTIONS.map((fraction) => distribution.quantile(fraction));
  return { count, min, max, oldestMs, newestMs, quantiles };
}

/** Whole nanocores, of all sizes. */
const value = fc.oneof(
  {
    arbitrary: fc.nat({ max: 1e6 }).map((part) => Math.round(1e6 * 2 ** (20 * part / 1e6)) / 1e6),
    weight: 3,
  },
  fc.constantFrom(0, 0.5, 1000),
);
const atMs = fc.oneof(
  fc.integer({ min: NOW_MS - 2 * WINDOW_MS, max: NOW_MS + HOUR_MS }),
  fc.integer({ min: NOW_MS - WINDOW_MS + 1, max: NOW_MS }),
  fc.integer({ min: -17, max: 1 }).map((slot) => NOW_MS + slot * SLOT_MS),
);
const samples = fc.array(fc.record({ atMs, value }), { maxLength: 120 });

pure(
  "createUsageRing() counts all of the window that is at least a slot younger than its start",
  () => {
    fc.assert(fc.property(samples, (drawn) => {
      const ring = filled(drawn);
      const found = ring.distribution(WINDOW);
      const most = distributionOfSamples(drawn, WINDOW);
      const least = distributionOfSamples(drawn, { ...WINDOW, windowMs: WINDOW_MS - SLOT_MS });
      assert.ok(found.count >= least.count && found.count <= most.count);
      assert.ok(found.newestMs === most.newestMs || least.count === 0);
    }));
  },
);

pure(
  "property 12: createUsageRing() answers with samples of (now − window, now] and no others",
  () => {
    const shorter = fc.integer({ min: 1, max: WINDOW_MS });
    // The clock may have been set back since: nothing of what lies ahead may count.
    const later = fc.integer({ min: -2 * HOUR_MS, max: WINDOW_MS });
    fc.assert(fc.property(samples, shorter, later, (drawn, windowMs, shift) => {
      const nowMs = NOW_MS + shift;
      const found = filled(drawn).distribution({ nowMs, windowMs });
      assert.ok(found.count <= distributionOfSamples(drawn, { nowMs, windowMs }).count);
      if (found.count === 0) return;
      assert.ok(found.oldestMs > nowMs - windowMs && found.newestMs <= nowMs);
    }));
  },
);

pure("createUsageRing() has quantiles within 1 % of those of the same samples", () => {
  const counted = fc.array(
    fc.record({
      atMs: fc.integer({ min: NOW_MS - WINDOW_MS + SLOT_MS, max: NOW_MS }),
      value: value.filter((millicores) => millicores >= 1),
    }),
    { minLength: 1, maxLength: 200 },
  );
  fc.assert(
    fc.property(counted, (drawn) => {
      const exact = distributionOfSamples(drawn, WINDOW);
      const found = filled(drawn).distribution(WINDOW);
      assert.equal(found.count, drawn.length);
      assert.equal(found.min, exact.min);
      assert.equal(found.max, exact.max);
      for (const fraction of FRACTIONS) {
        const expected = exact.quantile(fraction);
        const error = Math.abs(found.quantile(fraction) - expected);
        assert.ok(error <= RELATIVE_ERROR * expected * (1 + 1e-9), `${error} of ${expected}`);
      }
    }),
  );
});

pure("createUsageRing() takes late samples to the slot of their time, whatever the order", () => {
  const twoOrders = samples.chain((drawn) =>
    fc.tuple(fc.constant(drawn), fc.shuffledSubarray(drawn, { minLength: drawn.length }))
  );
  fc.assert(fc.property(twoOrders, ([drawn, shuffled]) => {
    for (const windowMs of [WINDOW_MS, WINDOW_MS / 2]) {
      const window = { nowMs: NOW_MS, windowMs };
      assert.deepEqual(
        figuresOf(filled(drawn).distribution(window)),
        figuresOf(filled(shuffled).distribution(window)),
      );
    }
  }));
});

pure("createUsageRing() lets a sample go when it is a window old", () => {
  const ring = filled([{ atMs: NOW_MS, value: 900 }]);
  ring.add({ atMs: NOW_MS + WINDOW_MS - SLOT_MS, value: 100 }, NOW_MS + WINDOW_MS - SLOT_MS);
  const before = ring.distribution({ ...WINDOW, nowMs: NOW_MS + WINDOW_MS - 1 });
  assert.deepEqual([before.count, before.max], [2, 900]);
  const after = ring.distribution({ ...WINDOW, nowMs: NOW_MS + WINDOW_MS });
  assert.deepEqual([after.count, after.max], [1, 100]);
});

pure(
  "createUsageRing() refuses what is too old, from the future or no quantity, and says so",
  () => {
    const ring = createUsageRing("cpu", { windowMs: WINDOW_MS });
    assert.equal(ring.add({ atMs: NOW_MS - WINDOW_MS, value: 1 }, NOW_MS), "too old");
    assert.equal(ring.add({ atMs: NOW_MS + 1, value: 1 }, NOW_MS), "from the future");
    for (const wrong of [NaN, -1, Infinity, 1e300]) {
      assert.equal(ring.add({ atMs: NOW_MS, value: wrong }, NOW_MS), "not a quantity");
    }
    assert.deepEqual(ring.contents(), []);
    assert.equal(ring.distribution(WINDOW).count, 0);
    assert.equal(ring.add({ atMs: NOW_MS, value: 1 }, NOW_MS), undefined);
    assert.equal(ring.distribution(WINDOW).count, 1);
  },
);

pure("createUsageRing() counts again after its clock was set back by days", () => {
  const ring = filled([{ atMs: NOW_MS, value: 900 }]);
  const backMs = NOW_MS - 3 * WINDOW_MS;
  assert.equal(ring.add({ atMs: backMs, value: 100 }, backMs), undefined);
  const found = ring.distribution({ ...WINDOW, nowMs: backMs });
  assert.deepEqual([found.count, found.max], [1, 100]);
  assert.equal(ring.contents().length, 1);
});

pure("createUsageRing() answers for shorter windows, and for no longer one", () => {
  const ring = filled([{ atMs: NOW_MS, value: 1 }, { atMs: NOW_MS - 20 * HOUR_MS, value: 2 }]);
  assert.equal(ring.distribution({ ...WINDOW, windowMs: 2 * HOUR_MS }).count, 1);
  assert.throws(() => ring.distribution({ ...WINDOW, windowMs: WINDOW_MS + 1 }), {
    name: "RangeError",
    message: /86400001 .*86400000/,
  });
});

pure("createUsageRing() refuses shapes that cannot be, naming the field", () => {
  for (const windowMs of [0, -1, 0.5, NaN, Infinity]) {
    assert.throws(() => createUsageRing("cpu", { windowMs }), {
      name: "RangeError",
      message: new RegExp(`: windowMs is ${windowMs},`),
    });
  }
  for (const slots of [0, 257, 1.5, NaN]) {
    assert.throws(() => createUsageRing("cpu", { windowMs: 1000, slots }), {
      name: "RangeError",
      message: new RegExp(`: slots is ${slots},`),
    });
  }
});

pure("absorb() of a ring of the same shape is as if its samples had come here", () => {
  fc.assert(fc.property(samples, samples, (one, other) => {
    const inside = (all: readonly UsageSample[]): UsageSample[] =>
      all.filter(({ atMs }) => atMs >= NOW_MS - WINDOW_MS + SLOT_MS);
    const ring = filled(inside(one));
    ring.absorb(filled(inside(other)).contents(), NOW_MS);
    const together = filled([...inside(one), ...inside(other)]);
    assert.deepEqual(
      figuresOf(ring.distribution(WINDOW)),
      figuresOf(together.distribution(WINDOW)),
    );
  }));
});

pure(
  "absorb() takes a slot to where it leaves with its oldest sample, and takes no other along",
  () => {
    const HALF_SLOT_MS = SLOT_MS / 2;
    const halfDay = { windowMs: WINDOW_MS / 2 };
    const old = filled([
      { atMs: NOW_MS - SLOT_MS, value: 1 },
      { atMs: NOW_MS - 1, value: 2 },
    ]);
    assert.equal(old.contents().length, 1);
    const ring = createUsageRing("cpu", halfDay);
    ring.add({ atMs: NOW_MS - HALF_SLOT_MS, value: 3 }, NOW_MS);
    ring.absorb(old.contents(), NOW_MS);
    const counts = [-SLOT_MS - 1, -SLOT_MS, -HALF_SLOT_MS].map((back) => {
      const nowMs = NOW_MS + halfDay.windowMs + back;
      return ring.distribution({ ...halfDay, nowMs }).count;
    });
    assert.deepEqual(counts, [3, 1, 0]);
  },
);

pure("absorb() into another shape keeps no sample longer than its window", () => {
  const lengths = fc.integer({ min: HOUR_MS, max: 7 * WINDOW_MS });
  const later = fc.integer({ min: 0, max: WINDOW_MS });
  fc.assert(fc.property(samples, lengths, later, (drawn, windowMs, laterMs) => {
    const ring = createUsageRing("cpu", { windowMs });
    ring.absorb(filled(drawn).contents(), NOW_MS);
    const window = { nowMs: NOW_MS + laterMs, windowMs };
    const found = ring.distribution(window);
    assert.ok(found.count <= distributionOfSamples(drawn, window).count);
    if (found.count > 0) assert.ok(found.oldestMs > window.nowMs - windowMs);
    // Into a wider one everything goes that was still counted.
    if (windowMs < WINDOW_MS || laterMs > 0) return;
    assert.equal(found.count, filled(drawn).distribution(WINDOW).count);
  }));
});

/** Bytes of counts: two to a bucket. */
function countBytes(ring: UsageRing): number {
  return ring.contents().reduce((sum, { counts }) => sum + counts.byteLength, 0);
}

pure(
  "createUsageRing() takes 52,224 bytes for both resources when every bucket of it is in use",
  () => {
    let bytes = 0;
    for (const resource of ["cpu", "memory"] as const) {
      const { least, buckets } = BUCKET_SCALES[resource];
      const ring = createUsageRing(resource, { windowMs: WINDOW_MS });
      // Three windows long, each slot with the least and the greatest: no more than 17 slots stay.
      for (let at = NOW_MS; at < NOW_MS + 3 * WINDOW_MS; at += SLOT_MS / 2) {
        ring.add({ atMs: at, value: least }, at);
        ring.add({ atMs: at, value: 2 ** 52 / BUCKET_SCALES[resource].partsPerUnit }, at);
      }
      assert.equal(ring.contents().length, 17);
      assert.equal(countBytes(ring), 17 * 2 * Math.ceil(buckets / BLOCK) * BLOCK);
      bytes += countBytes(ring);
    }
    assert.equal(bytes, 52_224);
    assert.ok(bytes + 34 * 450 < 0.07 * 2 ** 20, "with the objects' 450 bytes a slot");
  },
);

pure("createUsageRing() takes little for usage that stays within a factor of two", () => {
  const ring = createUsageRing("cpu", { windowMs: WINDOW_MS });
  for (let index = 0; index < 2880; index++) {
    const at = NOW_MS - index * 30_000;
    ring.add({ atMs: at, value: 200 * 2 ** ((index * 7919 % 100) / 100) }, NOW_MS);
  }
  assert.equal(ring.distribution(WINDOW).count, 2880);
  assert.ok(countBytes(ring) <= 17 * 2 * 4 * BLOCK, `${countBytes(ring)}`);
});

const SHAPE = { windowMs: WINDOW_MS } as const;

/** As JSON gives back rings with these samples. */
function stored(samples: readonly UsageSample[]) {
  const rings = createContainerRings(SHAPE);
  for (const sample of samples) {
    rings.cpu.add(sample, NOW_MS);
    rings.memory.add(sample, NOW_MS);
  }
  return { rings, json: JSON.parse(JSON.stringify(storedRings(rings))) };
}

const sample = fc.record({
  atMs: fc.integer({
    min: NOW_MS - WINDOW_MS + 1,
    max: NOW_MS,
  }),
  value: fc.double({ min: 0, max: 1e16, noNaN: true }).map((one) => one < 1e-6 ? 0 : one),
});

pure("property 31: restoredRings() has exactly what storedRings() was given", () => {
  fc.assert(fc.property(fc.array(sample, { maxLength: 40 }), (samples) => {
    const { rings, json } = stored(samples);
    const restored = restoredRings(json, { shape: SHAPE, nowMs: NOW_MS });
    for (const resource of ["cpu", "memory"] as const) {
      const [now, before] = [restored[resource].contents(), rings[resource].contents()];
      assert.deepEqual(storedRings(restored)[resource], storedRings(rings)[resource]);
      assert.deepEqual(now.map(({ count }) => count), before.map(({ count }) => count));
    }
  }));
});

pure("restoredRings() counts more samples than a bucket's 16 bits hold", () => {
  const { json } = stored(
    Array.from({ length: 70_000 }, () => ({ atMs: NOW_MS, value: 7e6 })),
  );
  const { cpu, memory } = restoredRings(json, { shape: SHAPE, nowMs: NOW_MS });
  for (const ring of [cpu, memory]) {
    assert.equal(ring.distribution(WINDOW).count, 70_000);
  }
});

pure(
  "restoredRings() goes on in whatever shape it now keeps, without what has left the window",
  () => {
    const { json } = stored([1, 2, 3, 40_000].map((back) => ({
      atMs: NOW_MS - 1000 * back,
      value: 100 * back,
    })));
    for (const shape of [SHAPE, { windowMs: 7 * WINDOW_MS, slots: 32 }]) {
      const rings = restoredRings(json, { shape, nowMs: NOW_MS });
      for (const resource of ["cpu", "memory"] as const) {
        const { count, max, oldestMs } = rings[resource].distribution({
          ...shape,
          nowMs: NOW_MS,
        });
        assert.deepEqual([count, max, oldestMs], [
          4,
          4_000_000,
          NOW_MS - 40_000_000,
        ]);
      }
    }
    const later = restoredRings(json, {
      shape: SHAPE,
      nowMs: NOW_MS + WINDOW_MS,
    });
    assert.deepEqual(later.cpu.contents(), []);
  },
);

pure("restoredRings() throws for buckets that are not of the scale", () => {
  const wrong: [number, number[]][] = [[694, [1]], [690, [1, 1, 1, 1, 1]], [1e9, [1]]];
  for (const [first, counts] of wrong) {
    const cpu: StoredRings["cpu"] = [[NOW_MS, NOW_MS, 1, 1, 0, first, counts]];
    const options = { shape: SHAPE, nowMs: NOW_MS };
    assert.throws(() => restoredRings({ cpu, memory: [] }, options), SyntaxError);
  }
});

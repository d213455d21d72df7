import assert from "node:assert/strict";
import fc from "fast-check";
import { createContainerRings, restoredRings, storedRings } from "./container_rings.ts";

const WINDOW_MS = 86_400_000;
const NOW_MS = 1_800_000_000_000;
const SHAPE = { windowMs: WINDOW_MS } as const;

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

/** As JSON gives back rings with these samples. */
function stored(samples: readonly { readonly atMs: number; readonly value: number }[]) {
  const rings = createContainerRings(SHAPE);
  for (const sample of samples) {
    rings.cpu.add(sample, NOW_MS);
    rings.memory.add(sample, NOW_MS);
  }
  return { rings, json: JSON.parse(JSON.stringify(storedRings(rings))) };
}

const sample = fc.record({
  atMs: fc.integer({ min: NOW_MS - WINDOW_MS + 1, max: NOW_MS }),
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
  const { json } = stored(Array.from({ length: 70_000 }, () => ({ atMs: NOW_MS, value: 7e6 })));
  const { cpu, memory } = restoredRings(json, { shape: SHAPE, nowMs: NOW_MS });
  for (const ring of [cpu, memory]) {
    assert.equal(ring.distribution({ ...SHAPE, nowMs: NOW_MS }).count, 70_000);
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
        const { count, max, oldestMs } = rings[resource].distribution({ ...shape, nowMs: NOW_MS });
        assert.deepEqual([count, max, oldestMs], [4, 4_000_000, NOW_MS - 40_000_000]);
      }
    }
    const later = restoredRings(json, { shape: SHAPE, nowMs: NOW_MS + WINDOW_MS });
    assert.deepEqual(later.cpu.contents(), []);
  },
);

pure("restoredRings() throws for buckets that are not of the scale", () => {
  for (const [first, counts] of [[694, [1]], [690, [1, 1, 1, 1, 1]], [1e9, [1]]] as const) {
    const slot = [NOW_MS, NOW_MS, 1, 1, 0, first, [...counts]] as const;
    const wrong = { cpu: [[...slot]] as never, memory: [] };
    assert.throws(() => restoredRings(wrong, { shape: SHAPE, nowMs: NOW_MS }), SyntaxError);
  }
});

import assert from "node:assert/strict";
import fc from "fast-check";
import { ringKeeping } from "./ring_keeping.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const NOW_MS = 1_767_225_600_000;
const WINDOW = { nowMs: NOW_MS, windowMs: 3_600_000 };

const samples = fc.array(
  fc.record({
    ageMs: fc.integer({ min: 0, max: 3_599_999 }),
    cpu: fc.integer({ min: 0, max: 64_000 }),
    memory: fc.integer({ min: 0, max: 2 ** 36 }),
  }),
  { minLength: 1, maxLength: 50 },
);

test("ringKeeping reads back what it has written, and a damaged text is an error", () => {
  fc.assert(fc.property(samples, (samples) => {
    const rings = ringKeeping.create(WINDOW.windowMs);
    for (const { ageMs, cpu, memory } of samples) {
      rings.cpu.add({ atMs: NOW_MS - ageMs, value: cpu }, NOW_MS);
      rings.memory.add({ atMs: NOW_MS - ageMs, value: memory }, NOW_MS);
    }
    const text = ringKeeping.encode(rings);
    const read = ringKeeping.decode(text, WINDOW);
    for (const resource of ["cpu", "memory"] as const) {
      const [before, after] = [rings, read].map((one) => one[resource].distribution(WINDOW));
      assert.ok(before !== undefined && after !== undefined);
      const { quantile: quantileBefore, ...known } = before;
      const { quantile: quantileAfter, ...again } = after;
      assert.deepEqual(again, known);
      if (known.count > 0) assert.equal(quantileAfter(0.9), quantileBefore(0.9));
    }
    assert.throws(() => ringKeeping.decode(text.slice(0, -1), WINDOW), SyntaxError);
  }));
});

test("ringKeeping keeps what a shorter window covers", () => {
  const rings = ringKeeping.create(WINDOW.windowMs);
  for (const ageMs of [3_000_000, 1000]) {
    rings.cpu.add({ atMs: NOW_MS - ageMs, value: 100 }, NOW_MS);
  }
  const shorter = { nowMs: NOW_MS, windowMs: 600_000 };
  const read = ringKeeping.decode(ringKeeping.encode(rings), shorter);
  assert.equal(read.cpu.windowMs, 600_000);
  assert.equal(read.cpu.distribution(shorter).count, 1);
});

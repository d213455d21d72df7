import fc from "fast-check";
import assert from "node:assert/strict";
import { pure } from "../../../tests/fixtures/pure.ts";
import { countMoments, momentsOf, splitMoments } from "./moments.ts";

const HOUR_MS = 3_600_000;
const NOW_MS = 1_767_225_600_000;

pure("momentsOf() takes steps of 15 s to 2 min, longer for many moments", () => {
  const hours = { 0.001: 15, 1: 15, 3: 15, 6: 30, 24: 120, 168: 120, 720: 236 };
  for (const [one, seconds] of Object.entries(hours)) {
    const windowMs = Number(one) * HOUR_MS;
    const { stepMs } = momentsOf({ fromMs: NOW_MS - windowMs, toMs: NOW_MS });
    assert.equal(stepMs, 1000 * seconds, `${one} h`);
  }
});

const windows = fc.double({ min: 1, max: 400 * 24 * HOUR_MS, noNaN: true })
  .map((windowMs) => ({ fromMs: NOW_MS + 781 - Math.ceil(windowMs), toMs: NOW_MS + 781 }));

pure("property 12: momentsOf() lie in (from, to], the last at its end, at most 11,000", () => {
  fc.assert(
    fc.property(windows, (window) => {
      const moments = momentsOf(window);
      assert.ok(moments.startMs > window.fromMs, JSON.stringify(moments));
      assert.ok(moments.startMs - moments.stepMs <= window.fromMs, "none is left out");
      assert.equal(moments.endMs, window.toMs);
      assert.ok(countMoments(moments) <= 11_000);
      assert.equal((moments.endMs - moments.startMs) % moments.stepMs, 0);
    }),
  );
});

function allOf(moments: ReturnType<typeof momentsOf>): number[] {
  return Array.from(
    { length: countMoments(moments) },
    (_, index) => moments.startMs + index * moments.stepMs,
  );
}

pure("splitMoments() has each moment in one part", () => {
  const shortWindows = windows.map(({ fromMs, toMs }) => ({
    fromMs: toMs - ((toMs - fromMs) % HOUR_MS || 1),
    toMs,
  }));
  fc.assert(fc.property(shortWindows, fc.integer({ min: 1, max: 400 }), (window, parts) => {
    const moments = momentsOf(window);
    const split = splitMoments(moments, parts);
    assert.ok(split.length <= parts);
    assert.deepEqual(split.flatMap(allOf), allOf(moments));
  }));
});

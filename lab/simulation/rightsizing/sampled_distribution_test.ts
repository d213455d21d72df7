import fc from "fast-check";
import assert from "node:assert/strict";
import { pure } from "../../../tests/fixtures/pure.ts";
import { distributionOfSamples } from "./sampled_distribution.ts";

const NOW_MS = 1_800_000_000_000;
const WINDOW_MS = 86_400_000;
const WINDOW = { nowMs: NOW_MS, windowMs: WINDOW_MS } as const;

pure("property 12: distributionOfSamples() takes samples of (now − window, now]", () => {
  const atMs = fc.oneof(
    fc.integer({ min: NOW_MS - 2 * WINDOW_MS, max: NOW_MS + WINDOW_MS }),
    fc.constantFrom(NOW_MS - WINDOW_MS, NOW_MS - WINDOW_MS + 1, NOW_MS, NOW_MS + 1, NaN),
  );
  const value = fc.oneof(
    fc.nat({ max: 1e15 }).map((thousandths) => thousandths / 1000),
    fc.constantFrom(0, NaN, -1, -1e-9, Infinity, -Infinity),
  );
  fc.assert(fc.property(fc.array(fc.record({ atMs, value }), { maxLength: 80 }), (drawn) => {
    const inside = drawn.filter(({ atMs, value }) =>
      value >= 0 && value < Infinity && NOW_MS - WINDOW_MS < atMs && atMs <= NOW_MS
    );
    const found = distributionOfSamples(drawn, WINDOW);
    assert.equal(found.count, inside.length);
    const [ats, amounts] = [inside.map(({ atMs }) => atMs), inside.map(({ value }) => value)];
    // Of nothing, it saw nothing since the start.
    const expected = inside.length === 0
      ? { min: 0, max: 0, oldestMs: NOW_MS - WINDOW_MS, newestMs: NOW_MS - WINDOW_MS }
      : {
        min: Math.min(...amounts),
        max: Math.max(...amounts),
        oldestMs: Math.min(...ats),
        newestMs: Math.max(...ats),
      };
    const { min, max, oldestMs, newestMs } = found;
    assert.deepEqual({ min, max, oldestMs, newestMs }, expected);
  }));
});

import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { createIntervals } from "./pod_interval.ts";
import type { RivalReading } from "./rival.ts";

function reading(fields: Partial<RivalReading>): RivalReading {
  return { usageMs: 0, throttledMs: 0, periods: 0, throttledPeriods: 0, limit: 500, ...fields };
}

pure("createIntervals() reports nothing at the first look or without time between two", () => {
  const intervalsAt = createIntervals();
  assert.equal(intervalsAt(0, [reading({ usageMs: 7 })]), undefined);
  assert.equal(intervalsAt(0, [reading({ usageMs: 9 })]), undefined);
  // The look without time is as if it had not been: 12 − 7.
  assert.equal(intervalsAt(100, [reading({ usageMs: 12 })])?.[0]?.usageMs, 5);
});

pure("createIntervals() reports what each pod, and all together, did since the last look", () => {
  const intervalsAt = createIntervals();
  intervalsAt(1000, [
    reading({ usageMs: 100, throttledMs: 5, throttledPeriods: 1 }),
    reading({}),
  ]);
  const intervals = intervalsAt(1500, [
    reading({ usageMs: 300, throttledMs: 45, throttledPeriods: 3, limit: 600 }),
    reading({ usageMs: 50 }),
  ]);
  // 200 ms and 50 ms of CPU in half a second: 400 m and 100 m.
  assert.deepEqual(intervals, [
    {
      atMs: 1500,
      elapsedMs: 500,
      usage: 400,
      nodeUsage: 500,
      usageMs: 200,
      throttledMs: 40,
      throttledPeriods: 2,
      limit: 600,
    },
    {
      atMs: 1500,
      elapsedMs: 500,
      usage: 100,
      nodeUsage: 500,
      usageMs: 50,
      throttledMs: 0,
      throttledPeriods: 0,
      limit: 500,
    },
  ]);
});

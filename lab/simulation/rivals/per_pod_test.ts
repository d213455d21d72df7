import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { feedRival } from "../../../tests/fixtures/lab/fed_rival.ts";
import { createIntervals, perPod, withinBounds } from "./per_pod.ts";
import type { RivalReading } from "./rival.ts";

pure("perPod() gives each pod a rule of its own and asks it from the second look on", () => {
  const asked: string[] = [];
  const rival = perPod({
    algorithm: "spy",
    setting: "",
    lookMs: 100,
    createRule: ({ request }, { cpu }) => ({ atMs, usage }) => {
      asked.push(`${request} of ${cpu} at ${atMs}`);
      return request + usage;
    },
  });
  const look = feedRival(rival, { pods: [{ request: 1 }, { request: 2 }] });
  assert.deepEqual(asked, []);
  assert.deepEqual(look({ usage: 10 }, { usage: 20 }), [1 + 10, 2 + 20]);
  assert.deepEqual(asked, ["1 of 8000 at 100", "2 of 8000 at 100"]);
});

pure("withinBounds() cuts at floor and ceiling", () => {
  const pod = { floor: 100, ceiling: 400 };
  assert.deepEqual([50, 250, 900].map((limit) => withinBounds(limit, pod)), [100, 250, 400]);
});

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

import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { feedRival } from "../../../tests/fixtures/lab/fed_rival.ts";
import { perPod, withinBounds } from "./per_pod.ts";

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

pure("perPod() leaves all limits at the first look", () => {
  const rival = perPod({ algorithm: "spy", setting: "", lookMs: 100, createRule: () => () => 1 });
  const pod = { request: 1, originalLimit: 1, floor: 1, ceiling: 1, weight: 1, p90Demand: 1 };
  const reading = { usageMs: 0, throttledMs: 0, periods: 0, throttledPeriods: 0, limit: 1 };
  const run = rival.start([pod, pod], { cpu: 1000, capacity: 900 });
  assert.deepEqual(run.look(0, [reading, reading]), [undefined, undefined]);
});

pure("withinBounds() cuts at floor and ceiling", () => {
  const pod = { floor: 100, ceiling: 400 };
  assert.deepEqual([50, 250, 900].map((limit) => withinBounds(limit, pod)), [100, 250, 400]);
});

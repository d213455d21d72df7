import { pure } from "../../../tests/fixtures/pure.ts";
import { minuteHistory } from "../../../tests/fixtures/lab/minute_history.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import { type ReplayedPolicy, replayPolicy } from "./replay_policy.ts";
import type { UsageHistory } from "./usage_history.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

function policy(more: Partial<ReplayedPolicy> = {}): ReplayedPolicy {
  const bounds = { min: 10, max: 2 ** 40 };
  return {
    mode: "Auto",
    windowMs: DAY_MS,
    percentile: "P90",
    safetyFactor: 1.2,
    minSamples: 10,
    bounds: { cpu: bounds, memory: bounds },
    intervalMs: 5 * MINUTE_MS,
    updateStrategy: {
      updateRequestsOnly: true,
      changeThresholdPercent: 10,
      cooldownMs: 30 * MINUTE_MS,
      limitMultipliers: { cpu: 1, memory: 1.1 },
    },
    ...more,
  };
}

function level(minutes: number, usage: number): number[] {
  return Array.from({ length: minutes }, () => usage);
}

pure("replayPolicy() has a line per day, judged after the first", () => {
  const { days, judgement, warmUpMs } = replayPolicy(minuteHistory(level(5 * 1440, 100)), policy());
  assert.equal(warmUpMs, DAY_MS);
  assert.deepEqual(days.map(({ day, least, most }) => [day, least, most]), [
    [0, 120, 120],
    [1, 120, 120],
    [2, 120, 120],
    [3, 120, 120],
  ]);
  assert.deepEqual([judgement.minutes, judgement.coverage, judgement.changes], [4 * 1440, 1, 0]);
  assert.ok(Math.abs(judgement.waste - 0.2) < 1e-9);
});

pure("replayPolicy() judges three quarters of a short history", () => {
  const { warmUpMs, judgement } = replayPolicy(minuteHistory(level(240, 100)), policy());
  assert.equal(warmUpMs, HOUR_MS);
  assert.equal(judgement.minutes, 180);
});

pure("replayPolicy() keeps the policy's bounds, threshold and cooldown", () => {
  const values = [...level(1440, 100), ...level(1440, 104), ...level(1440, 1000)];
  const bounds = { cpu: { min: 10, max: 500 }, memory: { min: 1, max: 2 } };
  const { replay } = replayPolicy(minuteHistory(values), policy({ bounds, windowMs: HOUR_MS }));
  const set = [...new Set(replay.steps.map(({ inForce }) => inForce))];
  // 104 × 1.2 is 4 % more than 120, and 1000 is clamped.
  assert.deepEqual(set, [120, 500]);
});

pure("replayPolicy() applies limits only where the policy does", () => {
  const mebibyte = 2 ** 20;
  const values = [...level(2000, 100 * mebibyte), ...level(500, 900 * mebibyte)];
  const memory = minuteHistory(values, { resource: "memory" });
  const following = policy();
  const updateStrategy = { ...following.updateStrategy, updateRequestsOnly: false };
  assert.equal(replayPolicy(memory, following).judgement.kills, 0);
  const { judgement, replay } = replayPolicy(memory, { ...following, updateStrategy });
  assert.ok(judgement.kills > 0 && judgement.kills < 20, `${judgement.kills}`);
  assert.equal(replay.limitFactor, 1.1);
  // Kills teach: in the end it is covered.
  assert.ok((replay.steps.at(-1)?.inForce ?? 0) * 1.1 >= 900 * mebibyte);
});

pure(
  "replayPolicy() lowers memory to the recent peak + 15 % at most, with and without limits",
  () => {
    // 1000 for a day, then 100 with 600 once an hour: P90 × 1.2 falls to 120.
    const values = [
      ...level(1440, 1000),
      ...Array.from({ length: 2 * 1440 }, (_, minute) => minute % 60 === 0 ? 600 : 100),
    ];
    const last = (resource: UsageHistory["resource"], updateRequestsOnly: boolean) => {
      const given = policy({ windowMs: 6 * HOUR_MS });
      const updateStrategy = { ...given.updateStrategy, updateRequestsOnly };
      const { days } = replayPolicy(minuteHistory(values, { resource }), {
        ...given,
        updateStrategy,
      });
      return days.at(-1)?.least;
    };
    assert.equal(last("memory", true), 690);
    assert.equal(last("memory", false), 690);
    assert.equal(last("cpu", true), 120);
  },
);

pure("replayPolicy() never sets anything outside of the bounds", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 5000 }), { minLength: 100, maxLength: 300 }),
      fc.integer({ min: 10, max: 2000 }),
      fc.integer({ min: 0, max: 2000 }),
      fc.boolean(),
      (values, min, more, updateRequestsOnly) => {
        const bounds = { min, max: min + more };
        const given = policy({ bounds: { cpu: bounds, memory: bounds } });
        const updateStrategy = { ...given.updateStrategy, updateRequestsOnly };
        for (const resource of ["cpu", "memory"] as const) {
          const { days } = replayPolicy(minuteHistory(values, { resource }), {
            ...given,
            updateStrategy,
          });
          assert.ok(days.length > 0);
          for (const { least, most } of days) {
            assert.ok(least >= bounds.min && most <= bounds.max, `${least} to ${most}`);
          }
        }
      },
    ),
  );
});

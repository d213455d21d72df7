import fc from "fast-check";
import assert from "node:assert/strict";
import { minuteHistory } from "../../../tests/fixtures/lab/minute_history.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { COALLOCATOR, fixedMaximum, nextMaximum, playRules, VPA } from "./play_rules.ts";
import { percentileRule, type ReplayedPolicy, replayPolicy } from "./replay_policy.ts";
import { judgeReplay, replayRule } from "./replay_rule.ts";
import type { UsageHistory } from "./usage_history.ts";
import { everyChange, thresholdGuard, vpaUpdater } from "./rule.ts";

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
  assert.deepEqual(
    days.map(({ day, least, most }) => [day, least, most]),
    [[0, 120, 120], [1, 120, 120], [2, 120, 120], [3, 120, 120]],
  );
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

pure("replayPolicy() lowers memory to the recent peak + 15 % at most, limits or not", () => {
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
});

pure("replayPolicy() never sets anything outside of the bounds", () => {
  fc.assert(fc.property(
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
  ));
});

/** Three days with a peak each noon. */
function history(name: string, resource: UsageHistory["resource"], scale: number): UsageHistory {
  const values = Array.from({ length: 3 * 1440 }, (_, minute) => {
    const hour = minute / 60 % 24;
    return scale * (hour >= 12 && hour < 13 ? 1000 : 200);
  });
  return minuteHistory(values, { name, resource });
}

/** The rule with this label, or the only one with a label that starts with it. */
function ruleOf<T extends { readonly label: string }>(rules: readonly T[], label: string): T {
  const alike = rules.filter((rule) => rule.label.startsWith(label));
  const found = alike.find((rule) => rule.label === label) ?? alike[0];
  assert(found !== undefined, label);
  assert(found.label === label || alike.length === 1, `${label}: ${alike.length} rules`);
  return found;
}

pure("playRules() plays every rule on every series, and sums them up", () => {
  const { series, rules } = playRules([history("a", "cpu", 1), history("b", "cpu", 2)]);
  assert.deepEqual(series.map(({ name }) => name), ["a", "b"]);
  const labels = rules.map(({ label }) => label);
  assert.equal(new Set(labels).size, labels.length);
  for (const { rules: own } of series) assert.deepEqual(own.map(({ label }) => label), labels);
  const of = (label: string) => ruleOf(rules, label);
  assert.deepEqual([of(COALLOCATOR).kills, of(VPA).kills], [0, 0]);
  // P90 of a day knows nothing of an hour in it: 23 of 24 are covered, on both.
  assert.ok(Math.abs(of(COALLOCATOR).coverage - 23 / 24) < 1e-9, `${of(COALLOCATOR).coverage}`);
  assert.equal(of(COALLOCATOR).overLimitMinutes, 2 * 2 * 60);
  assert.ok(Math.abs(of(COALLOCATOR).shortDays.p50 - 1 / 24) < 1e-9);
  // P99 does, once it has seen one: the judged days come after it.
  assert.equal(of("coallocator, P99 × 1.2, 24 h").coverage, 1);
  const oracle = of("oracle, maximum");
  assert.deepEqual([oracle.coverage, oracle.waste], [1, 0]);
  assert.equal(of("fixed, maximum").changesPerDay, 0);
});

pure("playRules() kills memory under limits, and rules learn of it", () => {
  const { rules } = playRules([history("m", "memory", 2 ** 20)], {
    limitFactor: 1.1,
    warmUpMs: HOUR_MS,
  });
  const kills = (label: string): number => ruleOf(rules, label).kills;
  // 220 Mi below the peak of 1000: rules that know no kills would die each day, on each step.
  for (const label of [COALLOCATOR, VPA]) {
    const died = kills(label);
    assert.ok(died >= 2 && died <= 10, `${label}: ${died}`);
  }
  assert.equal(kills("fixed, maximum"), 0);
});

pure("playRules() plays the correction for throttling only where limits hold CPU", () => {
  const corrects = (resource: UsageHistory["resource"], limitFactor?: number): boolean =>
    playRules([history("a", resource, 2 ** 20)], limitFactor === undefined ? {} : { limitFactor })
      .rules.some(({ label }) => label === `${COALLOCATOR}, corrected`);
  assert.equal(corrects("cpu", 1), true);
  assert.equal(corrects("cpu"), false);
  assert.equal(corrects("memory", 1.1), false);
});

pure("nextMaximum() knows the interval that begins, and no more", () => {
  const run = nextMaximum(
    minuteHistory([5, 9, 3, 4, 100], { atMin: [0, 59, 60, 119, 120] }),
    HOUR_MS,
  ).begin("cpu");
  assert.deepEqual([0, 1, 2].map((hour) => run.recommend(hour * HOUR_MS)?.value), [9, 4, 100]);
  // Asked again from the start, it begins again.
  assert.equal(run.recommend(0)?.value, 9);
});

pure("nextMaximum() is undefined for an hour without a record", () => {
  const run = nextMaximum(minuteHistory([5, 7], { atMin: [0, 180] }), HOUR_MS).begin("cpu");
  assert.equal(run.recommend(HOUR_MS), undefined);
  assert.equal(run.recommend(3 * HOUR_MS)?.value, 7);
});

pure("nextMaximum() covers all, and no rule that does wastes less", () => {
  fc.assert(fc.property(
    fc.array(fc.integer({ min: 1, max: 5000 }), { minLength: 130, maxLength: 400 }),
    fc.double({ min: 1, max: 3, noNaN: true }),
    (values, safetyFactor) => {
      const of = minuteHistory(values);
      const options = { guard: everyChange(), warmUpMs: HOUR_MS };
      const oracle = judgeReplay(replayRule(of, { ...options, rule: nextMaximum(of, HOUR_MS) }));
      const fixed = judgeReplay(replayRule(of, { ...options, rule: fixedMaximum(of) }));
      const rule = percentileRule("coallocator", {
        percentile: "P99",
        safetyFactor,
        windowMs: 24 * HOUR_MS,
      });
      const ours = judgeReplay(replayRule(of, { ...options, guard: thresholdGuard(), rule }));
      assert.equal(oracle.coverage, 1);
      assert.equal(fixed.coverage, 1);
      assert.ok(oracle.waste <= fixed.waste);
      if (ours.coverage === 1) assert.ok(oracle.waste <= ours.waste);
    },
  ));
});

pure("thresholdGuard() leaves changes of less than the threshold", () => {
  const guard = thresholdGuard({ changeThresholdPercent: 10, cooldownMs: 0 });
  const at = (value: number) => guard({ value }, { value: 1000, ageMs: HOUR_MS });
  assert.deepEqual([1099, 1100, 901, 900].map(at), [undefined, 1100, undefined, 900]);
});

pure("thresholdGuard() waits for the cooldown", () => {
  const guard = thresholdGuard();
  const at = (ageMs: number) => guard({ value: 2000 }, { value: 1000, ageMs });
  assert.deepEqual([0, 1_799_999, 1_800_000].map(at), [undefined, undefined, 2000]);
});

pure("thresholdGuard() lowers memory to above the recent peak at most, and lets it rise", () => {
  const inForce = { value: 1000, ageMs: HOUR_MS };
  const careful = thresholdGuard({ keepsPeak: true });
  assert.equal(careful({ value: 700, peak: 700 }, inForce), 805);
  assert.equal(careful({ value: 805, peak: 700 }, inForce), 805);
  assert.equal(careful({ value: 700, peak: 720 }, inForce), undefined, "within two steps");
  assert.equal(careful({ value: 1200, peak: 1100 }, inForce), 1200);
  assert.equal(thresholdGuard()({ value: 800, peak: 700 }, inForce), 800);
});

pure("vpaUpdater() acts outside of the bounds at once", () => {
  const guard = vpaUpdater();
  const at = (value: number) =>
    guard({ value: 1000, lower: 800, upper: 1300 }, { value, ageMs: 0 });
  assert.deepEqual([799, 800, 1300, 1301].map(at), [1000, undefined, undefined, 1000]);
});

pure("vpaUpdater() inside of the bounds changes old pods by a tenth and more", () => {
  const guard = vpaUpdater();
  const at = (value: number, hours: number) =>
    guard({ value: 1090, lower: 800, upper: 1300 }, { value, ageMs: hours * HOUR_MS });
  assert.deepEqual([at(900, 11.9), at(900, 12), at(1000, 12)], [undefined, 1090, undefined]);
});

import fc from "fast-check";
import assert from "node:assert/strict";
import { minuteHistory } from "../../../tests/fixtures/lab/minute_history.ts";
import { near } from "../../../tests/fixtures/near.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { COALLOCATOR, contestants, VPA } from "./play_rules.ts";
import {
  type Judgement,
  judgeReplay,
  limitOf,
  type ReplayOptions,
  replayRule,
  type ReplayStep,
  type RuleReplay,
} from "./replay_rule.ts";
import {
  everyChange,
  type Kill,
  type RightsizingRule,
  thresholdGuard,
  type UsageSample,
} from "./rule.ts";
import type { UsageHistory } from "./usage_history.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const START_MS = 1_633_478_400_000;

function history(
  values: readonly number[],
  resource: UsageHistory["resource"] = "cpu",
): UsageHistory {
  return minuteHistory(values, { resource, fromMs: START_MS });
}

/** Recommends what it is given, hour by hour, and notes what it sees. */
function scripted(values: readonly (number | undefined)[]): {
  readonly rule: RightsizingRule;
  readonly seen: UsageSample[];
  readonly kills: Kill[];
} {
  const seen: UsageSample[] = [];
  const kills: Kill[] = [];
  const rule: RightsizingRule = {
    name: "scripted",
    setting: "",
    begin: () => ({
      observe: (sample) => void seen.push(sample),
      killed: (kill) => void kills.push(kill),
      recommend(atMs) {
        const value = values[Math.floor((atMs - START_MS) / HOUR_MS)];
        return value === undefined ? undefined : { value };
      },
    }),
  };
  return { rule, seen, kills };
}

function play(
  of: UsageHistory,
  options: Partial<ReplayOptions> & { readonly rule: RightsizingRule },
): RuleReplay {
  return replayRule(of, { guard: everyChange(), warmUpMs: 0, ...options });
}

function minutes(count: number, usage: number): number[] {
  return Array.from({ length: count }, () => usage);
}

pure("replayRule() sets a value each hour, and judges nothing before the first", () => {
  const { rule } = scripted([undefined, 100, 100, 200]);
  const { steps } = play(history(minutes(240, 50)), { rule });
  assert.deepEqual(
    steps.map(({ first, end, inForce, changed }) => [first, end, inForce, changed]),
    [[60, 120, 100, false], [120, 180, 100, false], [180, 240, 200, true]],
  );
});

pure("replayRule() plays the warm-up and does not judge it", () => {
  const { rule, seen } = scripted([100, 200, 200]);
  const { steps } = play(history(minutes(180, 50)), { rule, warmUpMs: 2 * HOUR_MS });
  assert.deepEqual(steps.map(({ fromMs, inForce, changed }) => [fromMs, inForce, changed]), [
    [START_MS + 2 * HOUR_MS, 200, false],
  ]);
  assert.equal(seen.length, 180);
  assert.deepEqual([seen[0]?.inForce, seen[60]?.inForce], [100, 200]);
});

pure("replayRule() asks the guard before a change, with the age of what is set", () => {
  const { rule } = scripted([100, 105, 200, 200]);
  const asked: number[] = [];
  const guard: ReplayOptions["guard"] = (proposal, inForce) => {
    asked.push(inForce.ageMs);
    return thresholdGuard()(proposal, inForce);
  };
  const { steps } = play(history(minutes(240, 50)), { rule, guard });
  assert.deepEqual(steps.map(({ inForce }) => inForce), [100, 100, 200, 200]);
  // The guard is not asked about a value that is set already.
  assert.deepEqual(asked, [HOUR_MS, 2 * HOUR_MS]);
});

pure("replayRule() keeps what is set while a rule has nothing to say", () => {
  const { rule } = scripted([100, undefined]);
  const [, second] = play(history(minutes(120, 50)), { rule }).steps;
  assert.equal(second?.inForce, 100);
});

pure("replayRule() shows a rule no usage above the limit", () => {
  const usage = history([...minutes(60, 50), ...minutes(60, 500)]);
  const limited = scripted([100, 100]);
  play(usage, { rule: limited.rule, limitFactor: 1.1 });
  assert.deepEqual(new Set(limited.seen.map((sample) => sample.usage)), new Set([50, 110]));
  assert.deepEqual(
    limited.seen.map(({ throttled = false }) => throttled),
    limited.seen.map((sample) => sample.usage === 110),
  );
  const free = scripted([100, 100]);
  play(usage, { rule: free.rule });
  assert.deepEqual(new Set(free.seen.map((sample) => sample.usage)), new Set([50, 500]));
  assert.ok(free.seen.every(({ throttled }) => throttled === undefined));
});

pure("replayRule() kills memory once each time that it passes the limit", () => {
  const twice = [...minutes(10, 50), ...minutes(5, 150), ...minutes(10, 110), ...minutes(35, 150)];
  const { rule, kills } = scripted([100]);
  const { steps } = play(history(twice, "memory"), { rule, limitFactor: 1.1 });
  assert.deepEqual(steps[0]?.kills, kills);
  assert.deepEqual(
    kills.map(({ atMs, inForce }) => [(atMs - START_MS) / MINUTE_MS, inForce]),
    [[10, 100], [25, 100]],
  );
  assert.ok(kills.every(({ limit }) => limit === 110));
});

pure("replayRule() kills again where the limit was raised by too little", () => {
  const usage = history(minutes(240, 500), "memory");
  const counts = (values: readonly number[]): number[] =>
    play(usage, { rule: scripted(values).rule, limitFactor: 1 }).steps.map(({ kills }) =>
      kills.length
    );
  assert.deepEqual(counts([100, 100, 200, 500]), [1, 0, 1, 0]);
});

pure("replayRule() raises at once after a kill, without asking the guard, and never lowers", () => {
  const ladder = (step: number): RightsizingRule => {
    let wanted = 100;
    return {
      name: "ladder",
      setting: "",
      begin: () => ({
        observe() {},
        killed: ({ limit }) => void (wanted = limit + step),
        recommend: () => ({ value: wanted }),
      }),
    };
  };
  const usage = history([...minutes(10, 50), ...minutes(50, 350), ...minutes(60, 50)], "memory");
  const options = { guard: () => undefined, limitFactor: 1 };
  const { steps } = play(usage, { ...options, rule: ladder(100) });
  assert.deepEqual(
    steps.map((
      { first, end, inForce, changed, kills },
    ) => [first, end, inForce, changed, kills.length]),
    [
      [0, 11, 100, false, 1],
      [11, 12, 200, true, 1],
      [12, 13, 300, true, 1],
      [13, 60, 400, true, 0],
      [60, 120, 400, false, 0],
    ],
  );
  const lowered = play(usage, { ...options, rule: ladder(-50) }).steps;
  assert.deepEqual(lowered.map(({ inForce, kills }) => [inForce, kills.length]), [
    [100, 1],
    [100, 0],
  ]);
});

pure("replayRule() kills no pod without a limit, nor for CPU", () => {
  const kills = (resource: UsageHistory["resource"], options: Partial<ReplayOptions>): number => {
    const { rule, kills } = scripted([100]);
    play(history(minutes(60, 500), resource), { rule, ...options });
    return kills.length;
  };
  assert.equal(kills("memory", {}), 0);
  assert.equal(kills("cpu", { limitFactor: 1 }), 0);
  assert.equal(kills("memory", { limitFactor: 1 }), 1);
});

pure("replayRule() looks no more often than samples come", () => {
  const { rule } = scripted([100]);
  const { steps } = play(history(minutes(60, 1)), { rule, intervalMs: 1000 });
  assert.deepEqual(steps.map(({ end, first }) => end - first), minutes(60, 1));
});

pure("replayRule() sets nothing by what comes later", () => {
  fc.assert(fc.property(
    fc.array(fc.double({ min: 0, max: 5000, noNaN: true }), { minLength: 300, maxLength: 300 }),
    fc.array(fc.double({ min: 0, max: 5000, noNaN: true }), { minLength: 120, maxLength: 120 }),
    fc.constantFrom("cpu" as const, "memory" as const),
    fc.constantFrom(COALLOCATOR, VPA),
    (past, other, resource, label) => {
      const steps = (values: readonly number[]): RuleReplay["steps"] => {
        const of = history(values, resource);
        const chosen = contestants(of).find((one) => one.label === label);
        assert(chosen !== undefined);
        return play(of, { ...chosen, limitFactor: 1.1 }).steps;
      };
      const known = (all: RuleReplay["steps"]) =>
        all.filter(({ fromMs }) => fromMs < START_MS + 5 * HOUR_MS);
      const followed = steps([...past, ...other]);
      assert.deepEqual(known(followed), known(steps(past)));
      assert.ok(followed.length > known(followed).length);
    },
  ));
});

pure("limitOf() is the request times the factor in whole units, at least the request", () => {
  assert.equal(limitOf(100, 1.1), 110);
  assert.equal(limitOf(105, 1.1), 115);
  assert.equal(limitOf(100.5, 1), 100.5);
  assert.equal(limitOf(100, undefined), Infinity);
});

const DAY_MINUTES = 1440;

interface Scene {
  readonly values: readonly number[];
  /** Minutes of the samples. Default: one each minute. */
  readonly atMin?: readonly number[];
  readonly limitFactor?: number;
}

/** Values, each with the first sample at which it is set; `changed` from the second on. */
function judged(
  { values, atMin = values.map((_, index) => index), limitFactor }: Scene,
  set: readonly (readonly [first: number, inForce: number])[],
): Judgement {
  const steps = set.map(([first, inForce], index): ReplayStep => ({
    fromMs: (atMin[first] ?? 0) * MINUTE_MS,
    first,
    end: set[index + 1]?.[0] ?? values.length,
    inForce,
    changed: index > 0,
    kills: [],
  }));
  const replay: RuleReplay = {
    history: minuteHistory(values, { atMin }),
    ...(limitFactor === undefined ? {} : { limitFactor }),
    steps,
  };
  return judgeReplay(replay);
}

pure("judgeReplay() reports what was covered, idle and lacking", () => {
  const { minutes, coverage, waste, lack, overLimitMinutes } = judged(
    { values: [100, 300, 200, 200] },
    [[0, 200]],
  );
  assert.deepEqual([minutes, coverage, overLimitMinutes], [4, 0.75, 1]);
  // Idle 100 of a usage of 800; lacking 100.
  near(waste, 0.125);
  near(lack, 0.125);
});

pure("judgeReplay() distinguishes minutes above the limit from those above the request", () => {
  const { coverage, overLimitMinutes } = judged(
    { values: [100, 210, 221, 300], limitFactor: 1.1 },
    [[0, 200]],
  );
  assert.deepEqual([coverage, overLimitMinutes], [0.25, 2]);
});

pure("judgeReplay() counts changes by day of samples", () => {
  const values = Array.from({ length: DAY_MINUTES / 2 }, () => 1);
  const { changes, changesPerDay } = judged({ values }, [[0, 1], [60, 2], [120, 3]]);
  assert.deepEqual([changes, changesPerDay], [2, 4]);
});

pure("judgeReplay() finds the longest short stretch, across steps and not across gaps", () => {
  const values = [9, 9, 1, 9, 9, 9, 9, 9];
  assert.equal(judged({ values }, [[0, 5], [5, 6]]).longestShortMinutes, 5);
  const atMin = [0, 1, 2, 3, 4, 5, 100, 101];
  assert.equal(judged({ values, atMin }, [[0, 5]]).longestShortMinutes, 3);
});

pure("judgeReplay() leaves days out of which less than half was recorded", () => {
  const values = Array.from(
    { length: 2.4 * DAY_MINUTES },
    (_, minute) => minute < DAY_MINUTES ? 100 : 200,
  );
  const { days, coverage } = judged({ values }, [[0, 100]]);
  assert.deepEqual(days.map((day) => [day.minutes, day.coverage]), [
    [DAY_MINUTES, 1],
    [DAY_MINUTES, 0],
  ]);
  near(coverage, 1 / 2.4);
  const half = judged({ values: values.slice(0, 1.5 * DAY_MINUTES) }, [[0, 100]]);
  assert.equal(half.days.length, 2);
});

pure("judgeReplay() has no ratio to a usage of nothing", () => {
  const idle = judged({ values: [0, 0] }, [[0, 100]]);
  assert.deepEqual([idle.coverage, idle.waste, idle.lack], [1, Infinity, 0]);
  assert.equal(judged({ values: [0, 0] }, [[0, 0]]).waste, 0);
});

pure("judgeReplay() keeps accounts: set − usage = idle − lacking", () => {
  fc.assert(fc.property(
    fc.array(fc.integer({ min: 1, max: 1000 }), { minLength: 1, maxLength: 200 }),
    fc.integer({ min: 0, max: 1000 }),
    (values, inForce) => {
      const { waste, lack, coverage } = judged({ values }, [[0, inForce]]);
      const mean = values.reduce((a, b) => a + b, 0) / values.length;
      near((waste - lack) * mean, inForce - mean);
      assert.equal(lack === 0, coverage === 1);
    },
  ));
});

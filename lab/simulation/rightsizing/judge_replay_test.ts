import { near } from "../../../tests/fixtures/near.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { minuteHistory } from "../../../tests/fixtures/lab/minute_history.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import { compareBalance, type Judgement, judgeReplay } from "./judge_replay.ts";
import type { ReplayStep, RuleReplay } from "./replay_rule.ts";

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1440;

interface Scene {
  readonly values: readonly number[];
  /** Minutes of the samples. Default: one each minute. */
  readonly atMin?: readonly number[];
  readonly limitFactor?: number;
}

/** What is set from which sample on; `changed` from the second on. */
function judged(
  { values, atMin = values.map((_, index) => index), limitFactor }: Scene,
  set: readonly (readonly [first: number, inForce: number])[],
): Judgement {
  const steps = set.map(([first, inForce], index): ReplayStep => ({
    fromMs: (atMin[first] ?? 0) * MINUTE_MS,
    first,
    end: set[index + 1]?.[0] ?? values.length,
    inForce,
    proposed: inForce,
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
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 1000 }), { minLength: 1, maxLength: 200 }),
      fc.integer({ min: 0, max: 1000 }),
      (values, inForce) => {
        const { waste, lack, coverage } = judged({ values }, [[0, inForce]]);
        const mean = values.reduce((a, b) => a + b, 0) / values.length;
        near((waste - lack) * mean, inForce - mean);
        assert.equal(lack === 0, coverage === 1);
      },
    ),
  );
});

pure("compareBalance() calls a rule worse only where it is better in nothing", () => {
  const other = { coverage: 0.9, waste: 1 };
  const beside = (coverage: number, waste: number): string =>
    compareBalance({ coverage, waste }, other);
  assert.equal(beside(0.9, 1), "same");
  assert.deepEqual([beside(0.95, 0.5), beside(0.9, 0.5), beside(0.95, 1)], [
    "better",
    "better",
    "better",
  ]);
  assert.deepEqual([beside(0.8, 2), beside(0.9, 2), beside(0.8, 1)], ["worse", "worse", "worse"]);
  assert.deepEqual([beside(0.95, 2), beside(0.8, 0.5)], ["safer", "leaner"]);
});

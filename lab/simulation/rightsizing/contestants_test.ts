import { minuteHistory } from "../../../tests/fixtures/lab/minute_history.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import { pure } from "../../../tests/fixtures/pure.ts";
import { fixedMaximum, nextMaximum } from "./contestants.ts";
import { everyChange, thresholdGuard } from "./guard.ts";
import { judgeReplay } from "./judge_replay.ts";
import { percentileRule } from "./percentile_rule.ts";
import { replayRule } from "./replay_rule.ts";

const HOUR_MS = 3_600_000;

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

pure("fixedMaximum() is the largest value from the start", () => {
  assert.equal(fixedMaximum(minuteHistory([5, 700, 3])).begin("cpu").recommend(0)?.value, 700);
});

pure("nextMaximum() covers all, and no rule that does wastes less", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 5000 }), { minLength: 130, maxLength: 400 }),
      fc.double({ min: 1, max: 3, noNaN: true }),
      (values, safetyFactor) => {
        const of = minuteHistory(values);
        const options = { guard: everyChange(), warmUpMs: HOUR_MS };
        const oracle = judgeReplay(
          replayRule(of, { ...options, rule: nextMaximum(of, HOUR_MS) }),
        );
        const fixed = judgeReplay(replayRule(of, { ...options, rule: fixedMaximum(of) }));
        const rule = percentileRule("ours", {
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
    ),
  );
});

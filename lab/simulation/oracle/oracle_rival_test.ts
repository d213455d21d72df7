import fc from "fast-check";
import assert from "node:assert/strict";
import { cases } from "../../../tests/fixtures/cases.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { planLimits, type PlanOptions } from "./oracle_rival.ts";
import { periodGrid, playLog, type RequestLog } from "./play_log.ts";
import type { PlannedLimit } from "../play_scene.ts";
import { dueWork } from "./level_table.ts";

/** Mean limit over the run, CPUs. */
function meanOf({ durationMs }: RequestLog, plan: readonly PlannedLimit[]): number {
  const sum = plan.reduce(
    (total, { atMs, limit }, index) =>
      total + limit * ((plan[index + 1]?.atMs ?? durationMs) - atMs),
    0,
  );
  return sum / durationMs / 1000;
}

/** The least sum of levels of all plans that are served in time, by trying each. */
function leastByTrying(
  log: RequestLog,
  { highest, maxChanges, options }: {
    highest: number;
    maxChanges: number;
    options: PlanOptions;
  },
): number {
  const { threads, cores, uid, sloMs, stepMs, phaseMs } = options;
  const grid = periodGrid({ durationMs: log.durationMs, stepMs, phaseMs });
  const server = { threads, cores, uid };
  const { dueMs } = dueWork(log, { ...server, grid, sloMs, ceilingMs: highest });
  const levels = new Array<number>(grid.steps).fill(1);
  let best = Infinity;
  for (;;) {
    const sum = levels.reduce((total, level) => total + level, 0);
    const changes = levels.filter((level, step) => step > 0 && level !== levels[step - 1]).length;
    if (
      sum < best && changes <= maxChanges &&
      playLog(log, {
        ...server,
        grid,
        quotaOf: (period) => levels[grid.stepOf[period] ?? 0] ?? 0,
        untilMs: log.durationMs,
      }, { stopAfterMs: dueMs })
    ) best = sum;
    let step = 0;
    while (step < levels.length && levels[step] === highest) levels[step++] = 1;
    if (step === levels.length) return best;
    levels[step] = (levels[step] ?? 0) + 1;
  }
}

pure("planLimits() is no cheaper than the best of all plans, and often the best", () => {
  let atBest = 0;
  let runs = 0;
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat({ max: 999 }), fc.integer({ min: 1, max: 9 })), { maxLength: 25 }),
      fc.nat({ max: 4 }),
      fc.constantFrom(0, 40, 70),
      fc.integer({ min: 20, max: 150 }),
      fc.integer({ min: 1, max: 3 }),
      (requests, maxChanges, phaseMs, sloMs, threads) => {
        requests.sort(([a], [b]) => a - b);
        const log: RequestLog = {
          atMs: Float64Array.from(requests, ([at]) => at),
          costMs: Float64Array.from(requests, ([, cost]) => cost),
          durationMs: 1000,
        };
        const options = {
          sloMs,
          threads,
          maxChanges,
          phaseMs,
          stepMs: 200,
          cores: 2,
          floor: 10,
          ceiling: 60,
          uid: "pod",
        };
        const plan = planLimits(log, options);
        const best = leastByTrying(log, { highest: 6, maxChanges, options }) / 500;
        const mean = meanOf(log, plan);
        assert.ok(plan.length - 1 <= maxChanges);
        assert.ok(mean >= best - 1e-9, `plan ${mean}, best ${best}`);
        runs++;
        if (mean <= best + 1e-9) atBest++;
      },
    ),
    cases(0.6),
  );
  // In five steps nearly every window crosses a change: about three plans of ten are the very
  // best. Four standard deviations below that are allowed for.
  assert.ok(atBest >= 0.3 * runs - 4 * Math.sqrt(0.21 * runs), `${atBest} of ${runs}`);
});

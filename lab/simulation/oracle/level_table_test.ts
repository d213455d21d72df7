import assert from "node:assert/strict";
import fc from "fast-check";
import { pure } from "../../../tests/fixtures/pure.ts";
import {
  applyCut,
  cheapestSegments,
  type Cut,
  levelOf,
  type LevelTable,
  levelTable,
} from "./level_table.ts";
import { periodGrid } from "./request_log.ts";

const FLOOR = 2;
const CEILING = 40;

/** A table of one period a step: work comes in a period and is due `lag` periods later. */
function tableOf(work: readonly number[], lag: number): LevelTable {
  const steps = work.length;
  const grid = periodGrid({ durationMs: steps * 100, stepMs: 100, phaseMs: 0 });
  const doneBefore = new Float64Array(steps + 1);
  const dueBefore = new Float64Array(steps);
  for (let step = 0; step < steps; step++) {
    doneBefore[step + 1] = (doneBefore[step] ?? 0) + (work[step] ?? 0);
    dueBefore[step] = doneBefore[Math.max(0, step + 1 - lag)] ?? 0;
  }
  return levelTable(grid, { dueBefore, doneBefore }, { floor: FLOOR, ceiling: CEILING });
}

/** The definition: what comes from a on and is due by b, over b − a + 1 periods, all a and b within. */
function leastByDefinition(
  work: readonly number[],
  { lag, from, to }: { lag: number; from: number; to: number },
): number {
  let need = FLOOR;
  for (let a = from; a < to; a++) {
    let sum = 0;
    for (let b = a; b < to; b++) {
      if (b - lag >= a) sum += work[b - lag] ?? 0;
      need = Math.max(need, Math.ceil(sum / (b - a + 1) - 1e-6));
    }
  }
  return Math.min(CEILING, need);
}

/** All ways to cut, the cheapest of at most `segments`. */
function cheapestByTrying(table: LevelTable, segments: number): number {
  const { steps } = table;
  let best = Infinity;
  for (let mask = 0; mask < 2 ** (steps - 1); mask++) {
    let cost = 0;
    let from = 0;
    let used = 0;
    for (let to = 1; to <= steps; to++) {
      if (to < steps && ((mask >> (to - 1)) & 1) === 0) continue;
      cost += levelOf(table, { from, to }) * (to - from);
      from = to;
      used++;
    }
    if (used <= segments) best = Math.min(best, cost);
  }
  return best;
}

const someWork = fc.array(fc.nat({ max: 50 }), { minLength: 1, maxLength: 10 });

pure("levelTable() gives each segment the least level of all windows in it", () =>
  fc.assert(
    fc.property(someWork, fc.nat({ max: 3 }), (work, lag) => {
      const table = tableOf(work, lag);
      for (let from = 0; from < work.length; from++) {
        for (let to = from + 1; to <= work.length; to++) {
          const expected = leastByDefinition(work, { lag, from, to });
          assert.equal(levelOf(table, { from, to }), expected, `[${from}, ${to})`);
        }
      }
    }),
  ));

pure("applyCut() raises the segments that hold the steps, and no other", () =>
  fc.assert(
    fc.property(
      someWork,
      fc.array(fc.tuple(fc.nat({ max: 9 }), fc.nat({ max: 3 }), fc.nat({ max: CEILING }))),
      (work, drawn) => {
        const cuts = drawn.map(([first, more, level]): Cut => ({
          first,
          last: first + more,
          level,
        })).filter(({ last }) => last < work.length);
        const before = tableOf(work, 1);
        const table = tableOf(work, 1);
        for (const cut of cuts) applyCut(table, cut);
        for (let from = 0; from < work.length; from++) {
          for (let to = from + 1; to <= work.length; to++) {
            const held = cuts.filter(({ first, last }) => first >= from && last < to);
            const expected = Math.max(
              levelOf(before, { from, to }),
              ...held.map(({ level }) => level),
            );
            assert.equal(levelOf(table, { from, to }), expected);
          }
        }
      },
    ),
  ));

pure(
  "cheapestSegments() finds the cheapest cut of its number, on the hull of all numbers",
  () =>
    fc.assert(
      fc.property(someWork, fc.integer({ min: 1, max: 10 }), (work, segments) => {
        const table = tableOf(work, 1);
        const starts = cheapestSegments(table, segments);
        assert.equal(starts[0], 0);
        assert.ok(starts.length <= segments);
        const cost = starts.reduce((sum, from, index) => {
          const to = starts[index + 1] ?? work.length;
          return sum + levelOf(table, { from, to }) * (to - from);
        }, 0);
        assert.equal(cost, cheapestByTrying(table, starts.length));
        // A number between that and the most that is allowed would be above the line to a larger one.
        for (let used = starts.length + 1; used <= segments; used++) {
          const saved = cost - cheapestByTrying(table, used);
          const best = Array.from(
            { length: work.length },
            (_, more) =>
              (cost - cheapestByTrying(table, used + 1 + more)) / (used + 1 + more - starts.length),
          );
          assert.ok(saved / (used - starts.length) <= Math.max(...best) + 1e-9);
        }
      }),
    ),
);

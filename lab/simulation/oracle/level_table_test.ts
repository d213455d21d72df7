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
import {
  periodGrid,
  playLog,
  type PlayOptions,
  readRequestLog,
  type RequestLog,
} from "./play_log.ts";
import { seededRandom } from "../../../shared/random.ts";
import { cases } from "../../../tests/fixtures/cases.ts";
import { createLatencyHistogram, recordLatency } from "../node/latency_histogram.ts";
import { SimulatedNode } from "../node/simulated_node.ts";
import { createWorkload, endlessWork } from "../workload.ts";
import { type NeedyPod, shareShortNode } from "./oracle_rival.ts";

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

pure(
  "applyCut() raises the segments that hold the steps, and no other",
  () =>
    fc.assert(fc.property(
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
    )),
);

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

const BURSTS: RequestLog = {
  atMs: Float64Array.of(5, 5, 5, 2105, 2105, 2250),
  costMs: Float64Array.of(30, 12, 1, 12, 30, 5),
  durationMs: 3000,
};
/** A phase, so that refills do not begin with the steps. */
const GRID = periodGrid({ durationMs: 3000, stepMs: 1000, phaseMs: 30 });
const OPTIONS: PlayOptions = { uid: "p", grid: GRID, threads: 2, cores: 4, quotaOf: () => 20 };

pure("playLog() reports each request, in any order of their ends", () => {
  const doneMs = new Float64Array(6).fill(Infinity);
  assert.ok(playLog(BURSTS, { ...OPTIONS, quotaOf: () => 200 }, { doneMs }));
  assert.deepEqual([...doneMs].map(Math.round), [35, 17, 18, 2117, 2135, 2255]);
});

pure("playLog() serves the end of a run as the whole run does, when nothing was under way", () => {
  const doneMs = new Float64Array(6).fill(Infinity);
  const usedMs = new Float64Array(GRID.periods);
  const throttled = new Uint8Array(GRID.periods);
  playLog(BURSTS, { ...OPTIONS, untilMs: 3000 }, { doneMs, usedMs, throttled });
  assert.equal(Math.round(usedMs.reduce((sum, used) => sum + used, 0)), 90);
  // 43 ms at 20 ms a period: the first, of 30 ms, and the second do not suffice.
  assert.deepEqual([...throttled.subarray(0, 4)], [1, 1, 0, 0]);
  for (const fromPeriod of [11, 18, 21]) {
    const mine = new Float64Array(6).fill(Infinity);
    playLog(BURSTS, { ...OPTIONS, fromPeriod, untilMs: 3000 }, { doneMs: mine });
    assert.deepEqual([...mine.subarray(0, 3)], [Infinity, Infinity, Infinity]);
    mine.subarray(3).forEach((done, index) => {
      assert.ok(Math.abs(done - doneMs[3 + index]!) < 1e-6, `${done}, not ${doneMs[3 + index]}`);
    });
  }
});

pure("playLog() says whether all was done in time", () => {
  const doneMs = new Float64Array(6).fill(Infinity);
  playLog(BURSTS, OPTIONS, { doneMs });
  const inTime = (early: number, untilMs: number) =>
    playLog(BURSTS, { ...OPTIONS, untilMs }, { stopAfterMs: doneMs.map((done) => done - early) });
  assert.equal(inTime(0, 3000), true);
  assert.equal(inTime(1, 3000), false);
  // A request that is not done when time is up is late, too, be it not even begun.
  assert.equal(inTime(0, 100), true);
  assert.equal(inTime(500, 100), false);
});

pure("playLog() gives every request the latency that it has on the node", () =>
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1000 }),
      fc.integer({ min: 0, max: 9 }),
      fc.integer({ min: 1, max: 12 }),
      fc.array(fc.integer({ min: 5, max: 300 }), { minLength: 1, maxLength: 8 }),
      (seed, phase, threads, levels) => {
        const durationMs = 1000 * levels.length;
        const phaseMs = 10 * phase;
        const trace = { name: "t", unit: "cores" as const, stepS: 1 };
        const workload = () =>
          createWorkload({ ...trace, values: Float64Array.of(0.6, 2.5, 0.1) }, {
            random: seededRandom(seed),
            costMs: 12,
          });
        const log = readRequestLog(workload(), durationMs);
        const grid = periodGrid({ durationMs, stepMs: 1000, phaseMs });
        const doneMs = new Float64Array(log.atMs.length).fill(Infinity);
        playLog(log, {
          uid: "p",
          grid,
          threads,
          cores: 3,
          quotaOf: (period) => levels[grid.stepOf[period] ?? 0] ?? 0,
        }, { doneMs });

        const node = new SimulatedNode({ cores: 3, random: seededRandom(1) });
        const container = { id: "c", request: 100, threads, workload: workload() };
        const first = (levels[0] ?? 0) * 10;
        node.addPod({ uid: "p", phaseMs, containers: [{ ...container, limit: first }] });
        levels.forEach((level, step) => {
          node.advance(step * 1000);
          // Writing the same again would be a gift, too.
          if (level === (levels[step - 1] ?? level)) return;
          node.setContainerQuota("c", level * 10);
          node.setPodQuota("p", level * 10);
        });
        node.advance(durationMs);

        const mine = createLatencyHistogram();
        doneMs.forEach((done, index) => {
          if (done < durationMs) recordLatency(mine, done - (log.atMs[index] ?? 0));
        });
        const theirs = node.pod("p").latency;
        let apart = 0;
        theirs.counts.forEach((count, bucket) => {
          apart += Math.abs(count - (mine.counts[bucket] ?? 0));
        });
        // Rounding may move one across a bucket's edge, and one across the end.
        assert.ok(apart <= 3, `${apart} of ${theirs.total} differ`);
      },
    ),
    cases(0.4),
  ));

pure("readRequestLog() writes a thread that never ends as work that comes at 1 ms per ms", () => {
  const log = readRequestLog({ ...endlessWork(2), nextAt: 15 }, 40);
  assert.deepEqual([...log.atMs], [15, 15, 25, 25, 35, 35]);
  assert.deepEqual([...log.costMs], [10, 10, 10, 10, 5, 5]);
});

function pod(need: readonly number[], options: Partial<NeedyPod> = {}): NeedyPod {
  const values = Float64Array.from(need);
  const bid = { floor: 0, ceiling: 4000, weight: 100, keptSteps: 2 };
  return { ...bid, need: values, offered: values, ...options };
}

pure("shareShortNode() gives each its need while the needs fit", () => {
  const limits = shareShortNode([pod([300, 500]), pod([700, 500])], 1000);
  assert.deepEqual(limits.map((values) => [...values]), [[300, 500], [700, 500]]);
});

pure("shareShortNode() divides a short step by weight, within floors and needs", () => {
  const pods = [
    pod([900, 0], { weight: 100 }),
    pod([2000, 0], { weight: 300 }),
    pod([60, 0], { weight: 1 }),
    pod([200, 0], { weight: 1, floor: 100 }),
  ];
  // The last is at its floor; of 900 m the others get 224.4, 673.3 and 2.2: 900 / 401 a weight.
  const limits = shareShortNode(pods, 1000);
  assert.deepEqual(limits.map((values) => values[0]), [230, 670, 0, 100]);
});

pure("shareShortNode() counts work left over from a short step as demand until it is done", () => {
  const pods = [pod([800, 100, 100, 100]), pod([800, 100, 100, 100])];
  const limits = shareShortNode(pods, 1000);
  // 300 m over a step are left of each; with 100 that come they are 400.
  assert.deepEqual(limits.map((values) => [...values]), [
    [500, 400, 100, 100],
    [500, 400, 100, 100],
  ]);
  // Clients of 800 m that come in one step give up in the third: 200 m are not done.
  const given = shareShortNode([pod([800, 0, 0, 0])], 200);
  assert.deepEqual([...given[0] as Float64Array], [200, 200, 200, 0]);
});

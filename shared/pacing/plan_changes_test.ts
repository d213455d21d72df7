import assert from "node:assert/strict";
import { pacedSample, PLAIN_PACE, SAMPLE_PACE } from "../../tests/fixtures/market/paced_sample.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import type { PacedContainer, PaceMemory } from "./paced_container.ts";
import { planChanges, type PlanContext } from "./plan_changes.ts";

type Given = readonly [Partial<Omit<PacedContainer, "memory">>, Partial<PaceMemory>?];

/**
 * The changes on a node where grants may reach 970 m, without margins and reserve unless they are
 * asked for: `900 DemandRose` or nothing for each.
 */
function changes(given: readonly Given[], context: Partial<PlanContext> = {}): string[] {
  const containers = given.map(([fields, memory]) => pacedSample(fields, memory));
  const base = { now: 100_000, capacity: 1000, mode: "uncongested", options: PLAIN_PACE } as const;
  return planChanges(containers, { ...base, ...context }).map(({ change }) =>
    change === undefined ? "" : `${change.limit} ${change.reason}`
  );
}

pure("planChanges() raises, lowers or leaves a single container", () => {
  const fresh = { since: 100_000 };
  const nearly = { share: 540, ceiling: 545, throttledMsPerS: 60 };
  const lower = { since: 70_000, highest: 200 };
  const rows: readonly (readonly [
    Given[0],
    Partial<PaceMemory>,
    expected: string,
    Partial<PlanContext>?,
  ])[] = [
    [{}, {}, ""],
    // Within its bounds at once, even while it warms up.
    [{ floor: 600, share: 600 }, fresh, "600 FloorRose"],
    [{ ceiling: 400, share: 400 }, fresh, "400 CeilingFell"],
    [{ share: 900 }, {}, "900 DemandRose"],
    [{ share: 900, throttledMsPerS: 6 }, {}, "900 Throttled"],
    [{ share: 900, boost: true }, {}, "900 StartupBoost"],
    [{ share: 900, metric: true }, {}, "900 MetricRose"],
    // A fifth more, and not within a second of the last.
    [{ share: 600 }, {}, ""],
    [{ share: 900 }, { raisedAt: 99_001 }, ""],
    [{ share: 900 }, { raisedAt: 99_000 }, "900 DemandRose"],
    // A throttled container to a close ceiling, from what is free only.
    [nearly, {}, "540 Throttled"],
    [{ ...nearly, throttledMsPerS: 0 }, {}, ""],
    [{ ...nearly, ceiling: 550 }, {}, ""],
    [nearly, { raisedAt: 99_001 }, ""],
    [nearly, {}, "", { capacity: 550 }],
    [{ share: 100 }, {}, "100 NodeOverloaded", { mode: "overloaded", capacity: 50 }],
    // Lower demand after the wait, and a smaller node by its name.
    [{ share: 200, need: 195 }, { lower }, "200 DemandFell"],
    [{ share: 200, need: 450 }, { lower }, "200 NodeCongested"],
  ];
  for (const [fields, memory, expected, context] of rows) {
    assert.deepEqual(changes([[fields, memory]], context), [expected], JSON.stringify(fields));
  }
  assert.deepEqual(changes([]), []);
});

pure("planChanges() grants what is free, and lets the surplus of others pay", () => {
  const nearly: Given = [{ share: 540, ceiling: 545, throttledMsPerS: 60 }];
  assert.deepEqual(
    changes([nearly, [{ share: 100, need: 100 }, { limit: 300 }]], { capacity: 840 }),
    ["", ""],
  );
  // Raises that relieve more go before those to a close ceiling. Free: 970 − 500 − 370 = 100.
  const close: Given = [{ share: 590, ceiling: 590, throttledMsPerS: 60 }];
  const third: Given = [{ share: 270 }, { limit: 270 }];
  const found = changes([close, [{ share: 400 }, { limit: 100 }], third]);
  assert.deepEqual(found, ["", "200 DemandRose", ""]);
  // Free: 970 − 500 − 37.3 = 432; 37.3 + 430 is 460 on the grid, 232.7 wait, 2.7 are left.
  const hungry: Given = [{ share: 700, least: 37.3 }, { limit: 100 }];
  const paid = changes([hungry, [{ share: 100, need: 100 }]]);
  assert.deepEqual(paid, ["460 DemandRose", "270 FundsRaise"]);
  // No more is taken back while what was taken is on its way.
  const recent = [{ until: 101_000, limit: 500 }];
  const paying: Given = [{ share: 100, need: 100, quota: 500 }, {
    limit: 300,
    fundedAt: 0,
    recent,
  }];
  assert.deepEqual(changes([[{ share: 670 }], paying]), ["", ""]);
  const pays = (need: number) => changes([[{ share: 900 }], [{ share: 100, need }]])[1];
  assert.deepEqual([pays(100), pays(800)], ["100 FundsRaise", "100 NodeCongested"]);
});

pure("planChanges() raises beyond the share while CPU is free, and asks more of payers", () => {
  // On a node with plenty of free CPU.
  const ample = { capacity: 10_000, options: SAMPLE_PACE };
  assert.deepEqual(changes([[{ share: 1000, ceiling: 4000 }]], ample), ["1050 DemandRose"]);
  // Free before: 970 − 490 − 480 = 0 of 1000. A fifth of 490 is 98.
  const paid = (share: number) =>
    changes([[{ share }, { limit: 490 }], [{ share: 100 }, { limit: 480 }]], {
      options: SAMPLE_PACE,
    })[1];
  assert.deepEqual([paid(580), paid(590)], ["", "380 FundsRaise"]);
  // A trial that showed nothing is rolled back after two seconds.
  const lower = { since: 98_000, highest: 210 };
  const tried = (trialFrom: number | undefined) =>
    changes([[{ share: 210 }, { limit: 800, lower, changedAt: 95_000, trialFrom }]], ample)[0];
  assert.deepEqual([tried(200), tried(undefined)], ["210 DemandFell", ""]);
});

import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import type { PacedContainer } from "./paced_container.ts";
import { pacedSample, PLAIN_PACE, SAMPLE_PACE } from "../../tests/fixtures/market/paced_sample.ts";
import { planChanges, type PlanContext } from "./plan_changes.ts";

/**
 * The changes on a node where grants may reach 970 m, without margins and reserve unless they are
 * asked for; `[limit, reason]` or nothing for each.
 */
function changes(
  containers: readonly PacedContainer[],
  context: Partial<PlanContext> = {},
): (readonly [number, string] | undefined)[] {
  const base = {
    ...{ now: 100_000, capacity: 1000, mode: "uncongested" } as const,
    options: PLAIN_PACE,
  };
  return planChanges(containers, { ...base, ...context }).map(({ change }) =>
    change === undefined ? undefined : [change.limit, change.reason]
  );
}

pure("planChanges() changes nothing where limits are what they should be", () => {
  assert.deepEqual(changes([pacedSample()]), [undefined]);
  assert.deepEqual(changes([]), []);
});

pure("planChanges() brings a limit within its bounds at once, even while it warms up", () => {
  const fresh = { since: 100_000 };
  assert.deepEqual(
    changes([pacedSample({ floor: 600, share: 600 }, fresh)]),
    [[600, "FloorRose"]],
  );
  assert.deepEqual(
    changes([pacedSample({ ceiling: 400, share: 400 }, fresh)]),
    [[400, "CeilingFell"]],
  );
});

pure(
  "planChanges() raises in one step, and reports whether throttling or usage asked for it",
  () => {
    assert.deepEqual(changes([pacedSample({ share: 900 })]), [[900, "DemandRose"]]);
    assert.deepEqual(changes([pacedSample({ share: 900, throttledMsPerS: 6 })]), [[
      900,
      "Throttled",
    ]]);
  },
);

pure(
  "planChanges() leaves a raise of less than a fifth, and one within a second of the last",
  () => {
    assert.deepEqual(changes([pacedSample({ share: 600 })]), [undefined]);
    assert.deepEqual(changes([pacedSample({ share: 900 }, { raisedAt: 99_001 })]), [undefined]);
    assert.deepEqual(changes([pacedSample({ share: 900 }, { raisedAt: 99_000 })]), [
      [900, "DemandRose"],
    ]);
  },
);

pure(
  "planChanges() raises a throttled container to a close ceiling, from what is free only",
  () => {
    const nearly = { share: 540, ceiling: 545, throttledMsPerS: 60 };
    assert.deepEqual(changes([pacedSample(nearly)]), [[540, "Throttled"]]);
    assert.deepEqual(changes([pacedSample({ ...nearly, throttledMsPerS: 0 })]), [undefined]);
    assert.deepEqual(changes([pacedSample({ ...nearly, ceiling: 550 })]), [undefined]);
    assert.deepEqual(changes([pacedSample(nearly, { raisedAt: 99_001 })]), [undefined]);
    assert.deepEqual(changes([pacedSample(nearly)], { capacity: 550 }), [undefined]);
    const sated = pacedSample({ share: 100, need: 100 }, { limit: 300 });
    assert.deepEqual(changes([pacedSample(nearly), sated], { capacity: 840 }), [
      undefined,
      undefined,
    ]);
  },
);

pure("planChanges() serves raises that relieve more before those to a close ceiling", () => {
  const nearly = pacedSample({ share: 590, ceiling: 590, throttledMsPerS: 60 });
  const hungry = pacedSample({ share: 400 }, { limit: 100 });
  // Free: 970 − 500 − 370 = 100.
  const third = pacedSample({ share: 270 }, { limit: 270 });
  assert.deepEqual(changes([nearly, hungry, third]), [undefined, [200, "DemandRose"], undefined]);
});

pure("planChanges() grants what is free, on the grid, and lets the surplus of others pay", () => {
  const hungry = pacedSample({ share: 700, least: 37.3 }, { limit: 100 });
  const sated = pacedSample({ share: 100, need: 100 });
  // Free: 970 − 500 − 37.3 = 432; 37.3 + 430 is 460 on the grid, 232.7 wait, 2.7 are left.
  assert.deepEqual(changes([hungry, sated]), [[460, "DemandRose"], [270, "FundsRaise"]]);
});

pure("planChanges() takes no more back while what was taken is on its way", () => {
  const hungry = pacedSample({ share: 670 });
  const paying = pacedSample({ share: 100, need: 100, quota: 500 }, {
    limit: 300,
    fundedAt: 0,
    recent: [{ until: 101_000, limit: 500 }],
  });
  assert.deepEqual(changes([hungry, paying]), [undefined, undefined]);
});

pure(
  "planChanges() reports why a container pays: need, congestion, or an overloaded node",
  () => {
    const hungry = pacedSample({ share: 900 });
    const pays = (fields: Partial<PacedContainer>) =>
      changes([hungry, pacedSample({ share: 100, ...fields })])[1];
    assert.deepEqual(pays({ need: 100 }), [100, "FundsRaise"]);
    assert.deepEqual(pays({ need: 800 }), [100, "NodeCongested"]);
    assert.deepEqual(
      changes([pacedSample({ share: 100 })], { mode: "overloaded", capacity: 50 }),
      [[100, "NodeOverloaded"]],
    );
  },
);

pure(
  "planChanges() follows lower demand after the wait, and calls a smaller node by its name",
  () => {
    const lower = { since: 70_000, highest: 200 };
    assert.deepEqual(changes([pacedSample({ share: 200, need: 195 }, { lower })]), [
      [200, "DemandFell"],
    ]);
    assert.deepEqual(changes([pacedSample({ share: 200, need: 450 }, { lower })]), [
      [200, "NodeCongested"],
    ]);
  },
);

/** On a node with plenty of free CPU, unless another capacity is given. */
const AMPLE = { capacity: 10_000, options: SAMPLE_PACE };

pure("planChanges() raises beyond the share while CPU is free", () => {
  const grown = pacedSample({ share: 1000, ceiling: 4000 });
  assert.deepEqual(changes([grown], AMPLE), [[1050, "DemandRose"]]);
});

pure(
  "planChanges() gives no margin, and asks a fifth of a raise that others pay for",
  () => {
    // Free before: 970 − 490 − 480 = 0 of 1000. A fifth of 490 is 98.
    const other = pacedSample({ share: 100 }, { limit: 480 });
    const paid = (share: number) =>
      changes([pacedSample({ share }, { limit: 490 }), other], { options: SAMPLE_PACE })[1];
    assert.deepEqual(paid(580), undefined);
    assert.deepEqual(paid(590), [380, "FundsRaise"]);
  },
);

pure("planChanges() rolls a trial back after two seconds, where it showed nothing", () => {
  const lower = { since: 98_000, highest: 210 };
  const tried = (trialFrom: number | undefined) =>
    pacedSample({ share: 210 }, { limit: 800, lower, changedAt: 95_000, trialFrom });
  assert.deepEqual(changes([tried(200)], AMPLE), [[210, "DemandFell"]]);
  assert.deepEqual(changes([tried(undefined)], AMPLE), [undefined]);
});

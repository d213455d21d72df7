import assert from "node:assert/strict";
import {
  pacedSample,
  PLAIN_PACE,
  SAMPLE_PACE,
} from "../../tests/fixtures/market/sample_participants.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import type { PaceMemory } from "../market/market_container.ts";
import {
  followLowerTarget,
  fundRaises,
  grantRaises,
  isLargeRaise,
  lowerWait,
  rationedHysteresis,
} from "./limit_moves.ts";
import {
  afterChange,
  committed,
  COMMITTED_MS,
  committedAt,
  DEFAULT_PACE,
  grantable,
  newPaceMemory,
  paceAt,
  type PaceChange,
  type PacedContainer,
} from "./paced_container.ts";
import { planChanges, type PlanContext } from "./plan_changes.ts";

function granted(
  raises: readonly (readonly [cost: number, weight: number])[],
  free: number,
): number[] {
  const requests = raises.map(([cost, weight]) => {
    const container = pacedSample({ weight, share: cost }, { limit: 0 });
    return { container, wanted: cost, cost };
  });
  const grants = grantRaises(requests, free, { now: 0, options: PLAIN_PACE });
  return requests.map(({ container }) =>
    grants.find((grant) => grant.container === container)?.granted ?? NaN
  );
}

pure("grantRaises() grants all where there is enough, and else parts that relieve", () => {
  // Also what lies off the grid.
  assert.deepEqual(granted([[333, 1], [67, 5]], 400), [333, 67]);
  assert.deepEqual(granted([[900, 100], [900, 200], [30, 100]], 330), [100, 200, 30]);
  // The lightest waits where parts would relieve nothing.
  assert.deepEqual(granted([[90, 1], [90, 2]], 12), [0, 10]);
  assert.deepEqual(granted([[100, 1], [0, 1]], -50), [0, 0]);
  assert.deepEqual(granted([], 100), []);
});

pure("rationedHysteresis() shrinks while limits rest below a ration or a ceiling", () => {
  const after = (seconds: number, change: Record<string, number> = {}): string => {
    const { need = 601, usual = 0.15, changedAt = 0, ...others } = change;
    const container = pacedSample({ share: 600, need, ...others }, { changedAt });
    return rationedHysteresis(container, usual, { now: seconds * 1000 }).toFixed(9);
  };
  assert.equal(after(1e6, { need: 600 }), "0.150000000", "it has all that it needs");
  const atCeiling = { need: 600, ceiling: 600 };
  assert.equal(after(600, atCeiling), "0.150000000", "it is not throttled");
  assert.equal(after(600, { ...atCeiling, throttledMsPerS: 60 }), "0.020000000");
  assert.deepEqual([after(0), after(600)], ["0.150000000", "0.020000000"]);
  assert.equal(after(60), (0.15 / Math.E).toFixed(9));
  assert.equal(after(0, { changedAt: -Infinity }), "0.020000000");
  assert.equal(after(0, { usual: 0 }), "0.000000000");
  assert.equal(after(1000, { usual: 0.01 }), "0.010000000");
});

pure("isLargeRaise() begins above the hysteresis, less where limits rest", () => {
  const raise = (share: number, restS: number, need = 900) =>
    isLargeRaise(pacedSample({ share, need }, { changedAt: 0 }), share, {
      ...{ now: restS * 1000, options: PLAIN_PACE },
    });
  assert.deepEqual([raise(600, 0), raise(610, 0)], [false, true]);
  assert.deepEqual([raise(600, 9999, 600), raise(610, 9999, 610)], [false, true]);
  // 500 × (1 + 0.2 × e^(−60 / 60)) = 536.8
  assert.deepEqual([raise(530, 60), raise(540, 60)], [false, true]);
  // In the end two hundredths, and more than a step of the grid.
  assert.deepEqual([raise(510, 9999), raise(520, 9999)], [false, true]);
});

/** Plays targets, one a second from second 0: the second of the first answer, and the answer. */
function lowered(
  targets: readonly number[],
  memory: Partial<PaceMemory> = {},
): readonly [second: number, limit: number] | undefined {
  let container = pacedSample({}, memory);
  for (const [second, share] of targets.entries()) {
    const now = { ...container, share };
    const { lower, limit } = followLowerTarget(now, second * 1000, SAMPLE_PACE);
    if (limit !== undefined) return [second, limit];
    container = { ...container, memory: { ...container.memory, lower } };
  }
  return undefined;
}

pure("followLowerTarget() lowers after 30 s, to the highest target since the fall was over", () => {
  const low = Array<number>(60).fill(200);
  assert.deepEqual(lowered(low.with(12, 260)), [30, 260]);
  // It begins again when the target was back within a tenth of the limit.
  assert.equal(lowered(low.with(29, 450)), undefined);
  assert.deepEqual(lowered(low, { since: 25_000 }), [35, 200], "it warms up");
  // Usage is averaged, so a fall takes a moment; after a third of the wait all count.
  const falling = [400, 300, ...low];
  assert.deepEqual(lowered(falling), [30, 200]);
  assert.deepEqual(lowered(falling.with(8, 250)), [30, 200]);
  assert.deepEqual(lowered(falling.with(10, 250)), [30, 250]);
  // A trial is rolled back soon, if 220 m are as good as the 200 m before it; 221 are not.
  assert.deepEqual(lowered(low.map(() => 220), { trialFrom: 200 }), [2, 220]);
  assert.deepEqual(lowered(low.map(() => 221), { trialFrom: 200 }), [30, 221]);
});

pure("lowerWait() is short only where the target is back at the limit before a trial", () => {
  const lower = { since: 0, highest: 220 };
  const memories = [{ lower }, { trialFrom: 200 }, { trialFrom: 200, lower }];
  const waits = [...memories, { trialFrom: 199, lower }].map((one) => lowerWait(one, SAMPLE_PACE));
  assert.deepEqual(waits, [30_000, 30_000, 2000, 30_000]);
});

const AT = { now: 100_000, options: DEFAULT_PACE };

/** Containers that pay, by their place, with their new limits. */
function payments(containers: readonly PacedContainer[], shortage: number): [number, number][] {
  return [...fundRaises(containers, shortage, AT)]
    .map(([container, limit]) => [containers.indexOf(container), limit]);
}

pure("fundRaises() lowers the largest surplus first, by a tenth at least", () => {
  const shares = (...all: readonly number[]) => all.map((share) => pacedSample({ share }));
  assert.deepEqual(payments(shares(300, 100, 450), 250), [[1, 250]]);
  assert.deepEqual(payments(shares(300, 100, 450), 500), [[1, 100], [0, 400]]);
  assert.deepEqual(payments(shares(100), 10), [[0, 450]]);
  assert.deepEqual(payments(shares(100), 0), []);
  // Left out: one that warms up, paid lately, or has a surplus below a tenth.
  const young = pacedSample({ share: 100 }, { since: AT.now - 9999 });
  const paid = pacedSample({ share: 100 }, { fundedAt: AT.now - 4999 });
  assert.deepEqual(payments([young, paid, ...shares(450)], 1000), []);
  // A rationed container is left less beyond its share the longer it rests.
  const rationed = (changedAt: number) => pacedSample({ share: 480, need: 900 }, { changedAt });
  assert.deepEqual(payments([rationed(AT.now)], 1000), []);
  assert.deepEqual(payments([rationed(-1e9)], 1000), [[0, 480]]);
});

pure("paceAt() gives freely where a tenth of capacity is free, sparingly where none is", () => {
  const rows = [[1, 0, 0.05], [0.1, 0, 0.05], [0.05, 0.1, 0.025], [0, 0.2, 0], [-3, 0.2, 0]];
  for (const [freeShare = NaN, ...expected] of rows) {
    const { raiseHysteresis, raiseMargin } = paceAt(SAMPLE_PACE, freeShare);
    assert.deepEqual([raiseHysteresis, raiseMargin].map((one) => Number(one.toFixed(9))), expected);
  }
  assert.equal(grantable(1000, { cushion: 0.03 }), 970);
});

/** The memory of 200 m from second 0 on after these changes, one a second from second 1 on. */
function after(...changes: readonly (readonly [number, PaceChange["reason"]])[]): PaceMemory {
  return changes.reduce(
    (memory, [limit, reason], i) => afterChange(memory, { limit, reason, now: 1000 * (i + 1) }),
    newPaceMemory(200, 0),
  );
}

pure("afterChange() keeps replaced limits for two seconds, and the times of changes", () => {
  const never = -Infinity;
  assert.deepEqual(newPaceMemory(200, 1000), {
    ...{ limit: 200, recent: [], since: 1000, raisedAt: never, changedAt: never, fundedAt: never },
  });
  const { recent, raisedAt, changedAt } = after([500, "Throttled"]);
  assert.deepEqual(recent, [{ until: 1000 + COMMITTED_MS, limit: 200 }]);
  assert.deepEqual([raisedAt, changedAt], [1000, 1000]);
  const third = after([500, "Throttled"], [400, "FundsRaise"], [300, "FundsRaise"]);
  assert.deepEqual(third.recent.map(({ limit }) => limit), [500, 400]);
  assert.deepEqual([third.raisedAt, third.changedAt], [1000, 3000]);
  const waiting = { ...newPaceMemory(200, 0), lower: { since: 0, highest: 100 } };
  const raised = afterChange(waiting, { limit: 300, reason: "DemandRose", now: 50 });
  assert.equal(raised.lower, undefined);
});

pure("afterChange() remembers the limit before a trial, until another change", () => {
  const trial = [800, "Throttled"] as const;
  const more = [3200, "Throttled"] as const;
  assert.deepEqual([after(trial), after(trial, more)].map((one) => one.trialFrom), [200, 200]);
  const others = [
    after(trial, more, [220, "DemandFell"]),
    after([260, "Throttled"]),
    after([800, "DemandRose"]),
  ];
  assert.deepEqual(others.map((one) => one.trialFrom), [undefined, undefined, undefined]);
});

pure("committed() is the highest limit that may be in force, and a floor's bid below it", () => {
  const lowered = { recent: [{ until: 2000, limit: 900 }] };
  // From 500 to 900 and back: a quota of 500 may be the one before both.
  const twice = { recent: [{ until: 1900, limit: 500 }, { until: 2000, limit: 900 }] };
  const idle = { floor: 100, bidFloor: 10 };
  const rows: readonly (readonly [
    Partial<PacedContainer>,
    Partial<PaceMemory>,
    now: number,
    millicores: number,
  ])[] = [
    [{}, {}, 0, 500],
    [{ quota: 700 }, {}, 0, 700],
    [{ quota: 300 }, {}, 0, 500],
    [{}, lowered, 1999, 900],
    [{}, lowered, 2000, 500],
    [{ ...idle, quota: 500 }, { limit: 100 }, 0, 500],
    [{ ...idle, quota: 100 }, { limit: 100 }, 0, 10],
    // The quota shows what was lowered, if no other change can follow.
    [{ quota: 510 }, lowered, 100, 900],
    [{ quota: 500 }, lowered, 100, 500],
    [{ quota: 500 }, twice, 100, 900],
    [{ quota: 500 }, twice, 1950, 500],
  ];
  for (const [fields, memory, now, millicores] of rows) {
    assert.equal(committed(pacedSample(fields, memory), now), millicores);
  }
  const container = pacedSample({ floor: 100, bidFloor: 20 });
  assert.deepEqual([110, 100].map((limit) => committedAt(container, limit)), [110, 20]);
});

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
    [{ share: 900, throttledMsPerS: 5 }, {}, "900 DemandRose"],
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
    [nearly, { changedAt: 99_000 }, "540 Throttled"],
    [nearly, { changedAt: 99_000 }, "", { capacity: 550 }],
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
  // Another pays for the last 40 m to a ceiling once the limit has rested: 20 % × e^(−100 / 60) = 4 %.
  const nearly = { share: 540, ceiling: 545, throttledMsPerS: 60 };
  const surplus: Given = [{ share: 100, need: 100 }, { limit: 300 }];
  const since = (changedAt: number) =>
    changes([[nearly, { changedAt }], surplus], { capacity: 840 });
  assert.deepEqual([since(100_000), since(0)], [["", ""], ["", "270 FundsRaise"]]);
  // Free: 1047.6 − 1000, which is enough for one of them.
  const recently: Given = [nearly, { changedAt: 100_000 }];
  assert.deepEqual(changes([recently, recently], { capacity: 1080 }), ["540 Throttled", ""]);
  // Raises that relieve more go before those to a close ceiling. Free: 970 − 500 − 370 = 100.
  const close: Given = [{ share: 590, ceiling: 590, throttledMsPerS: 60 }, { changedAt: 100_000 }];
  const third: Given = [{ share: 270 }, { limit: 270 }];
  const found = changes([close, [{ share: 400 }, { limit: 100 }], third]);
  assert.deepEqual(found, ["", "200 DemandRose", ""]);
  // Free: 970 − 500 − 37.3 = 432; 37.3 + 430 is 460 on the grid, 232.7 wait, 2.7 are left.
  const hungry: Given = [{ share: 700, bidFloor: 37.3 }, { limit: 100 }];
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

import assert from "node:assert/strict";
import fc from "fast-check";
import { forAll } from "../../tests/fixtures/for_all.ts";
import { pacedSample, SAMPLE_PACE } from "../../tests/fixtures/market/paced_sample.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import {
  afterChange,
  committed,
  committedAt,
  DEFAULT_PACE,
  grantable,
  isThrottled,
  newPaceMemory,
  paceAt,
  type PaceChange,
  type PacedContainer,
  type PaceMemory,
  RECENT_MS,
} from "./paced_container.ts";

pure("paceAt() gives freely where a tenth of capacity is free, sparingly where none is", () => {
  const rows = [[1, 0, 0.05], [0.1, 0, 0.05], [0.05, 0.1, 0.025], [0, 0.2, 0], [-3, 0.2, 0]];
  for (const [freeShare = NaN, ...expected] of rows) {
    const { raiseHysteresis, raiseMargin } = paceAt(SAMPLE_PACE, freeShare);
    assert.deepEqual([raiseHysteresis, raiseMargin].map((one) => Number(one.toFixed(9))), expected);
  }
  assert.equal(grantable(1000, { cushion: 0.03 }), 970);
});

const share = fc.double({ min: -1, max: 2, noNaN: true });

forAll("paceAt() raises more easily the more is free, nothing else", [share, share], (a, b) => {
  const less = paceAt(DEFAULT_PACE, Math.min(a, b));
  const more = paceAt(DEFAULT_PACE, Math.max(a, b));
  assert.ok(less.raiseHysteresis >= more.raiseHysteresis - 1e-12);
  assert.ok(less.raiseMargin <= more.raiseMargin + 1e-12);
  const { raiseHysteresis, raiseMargin } = DEFAULT_PACE;
  assert.deepEqual({ ...less, raiseHysteresis, raiseMargin }, DEFAULT_PACE);
}, 1);

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
  assert.deepEqual(recent, [{ until: 1000 + RECENT_MS, limit: 200 }]);
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
  const idle = { floor: 100, least: 10 };
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
  const container = pacedSample({ floor: 100, least: 20 });
  assert.deepEqual([110, 100].map((limit) => committedAt(container, limit)), [110, 20]);
});

pure("isThrottled() begins above a hundredth of the limit", () => {
  const found = [5, 5.1].map((throttledMsPerS) => isThrottled(pacedSample({ throttledMsPerS })));
  assert.deepEqual(found, [false, true]);
});

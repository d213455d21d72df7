import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import { pacedSample, SAMPLE_PACE } from "../../tests/fixtures/market/paced_sample.ts";
import {
  afterChange,
  committed,
  committedAt,
  DEFAULT_PACE,
  grantable,
  isThrottled,
  newPaceMemory,
  paceAt,
  RECENT_MS,
} from "./paced_container.ts";

/** Raise hysteresis and margin where this share of capacity is free. */
function raises(freeFraction: number): number[] {
  const { raiseHysteresis, raiseMargin } = paceAt(SAMPLE_PACE, freeFraction);
  return [raiseHysteresis, raiseMargin].map((value) => Number(value.toFixed(9)));
}

pure("grantable() leaves the cushion", () => {
  assert.equal(grantable(1000, { cushion: 0.03 }), 970);
});

pure(
  "paceAt() gives freely where a tenth of capacity is free, and sparingly where none is",
  () => {
    assert.deepEqual(raises(0.1), [0, 0.05]);
    assert.deepEqual(raises(1), [0, 0.05]);
    assert.deepEqual(raises(0.05), [0.1, 0.025]);
    assert.deepEqual(raises(0), [0.2, 0]);
    assert.deepEqual(raises(-3), [0.2, 0]);
  },
);

pure("paceAt() raises ever more easily the more is free, and changes nothing else", () => {
  const share = fc.double({ min: -1, max: 2, noNaN: true });
  fc.assert(fc.property(share, share, (a, b) => {
    const less = paceAt(DEFAULT_PACE, Math.min(a, b));
    const more = paceAt(DEFAULT_PACE, Math.max(a, b));
    assert.ok(less.raiseHysteresis >= more.raiseHysteresis - 1e-12);
    assert.ok(less.raiseMargin <= more.raiseMargin + 1e-12);
    const { raiseHysteresis, raiseMargin } = DEFAULT_PACE;
    assert.deepEqual({ ...less, raiseHysteresis, raiseMargin }, DEFAULT_PACE);
  }));
});

pure("newPaceMemory() has never been raised and never paid", () => {
  const memory = newPaceMemory(200, 1000);
  assert.equal(memory.limit, 200);
  assert.equal(memory.since, 1000);
  assert.equal(memory.raisedAt, -Infinity);
  assert.equal(memory.fundedAt, -Infinity);
});

pure("afterChange() keeps the limit that was replaced for two seconds", () => {
  const first = afterChange(newPaceMemory(200, 0), { limit: 500, reason: "Throttled", now: 1000 });
  assert.deepEqual(first.recent, [{ until: 1000 + RECENT_MS, limit: 200 }]);
  const second = afterChange(first, { limit: 400, reason: "FundsRaise", now: 2000 });
  assert.deepEqual(second.recent.map(({ limit }) => limit), [200, 500]);
  const third = afterChange(second, { limit: 300, reason: "FundsRaise", now: 3000 });
  assert.deepEqual(third.recent.map(({ limit }) => limit), [500, 400]);
});

pure("afterChange() notes the time of a raise, and forgets waits that are over", () => {
  const waiting = {
    ...newPaceMemory(200, 0),
    raisedAt: 10,
    lower: { since: 0, highest: 100 },
  };
  const raised = afterChange(waiting, { limit: 300, reason: "DemandRose", now: 50 });
  assert.deepEqual([raised.raisedAt, raised.lower], [50, undefined]);
  assert.equal(afterChange(waiting, { limit: 100, reason: "DemandFell", now: 50 }).raisedAt, 10);
});

pure("afterChange() notes when the limit was changed, whichever way", () => {
  const first = afterChange(newPaceMemory(200, 0), { limit: 300, reason: "DemandRose", now: 50 });
  assert.equal(newPaceMemory(200, 0).changedAt, -Infinity);
  assert.equal(first.changedAt, 50);
  assert.equal(afterChange(first, { limit: 100, reason: "DemandFell", now: 90 }).changedAt, 90);
});

pure(
  "afterChange() remembers the limit before a trial, over more trials, until another change",
  () => {
    const before = newPaceMemory(200, 0);
    const trial = afterChange(before, { limit: 800, reason: "Throttled", now: 1 });
    assert.equal(trial.trialFrom, 200);
    const again = afterChange(trial, { limit: 3200, reason: "Throttled", now: 2 });
    assert.equal(again.trialFrom, 200);
    assert.equal(
      afterChange(again, { limit: 220, reason: "DemandFell", now: 3 }).trialFrom,
      undefined,
    );
  },
);

pure(
  "afterChange() takes a small raise, and one that no throttling asked for, for no trial",
  () => {
    const before = newPaceMemory(200, 0);
    const small = afterChange(before, { limit: 260, reason: "Throttled", now: 1 });
    const grown = afterChange(before, { limit: 800, reason: "DemandRose", now: 1 });
    assert.deepEqual([small.trialFrom, grown.trialFrom], [undefined, undefined]);
  },
);

pure("committedAt() counts a limit above the floor whole, and one at the floor as its bid", () => {
  const container = pacedSample({ floor: 100, least: 20 });
  assert.equal(committedAt(container, 110), 110);
  assert.equal(committedAt(container, 100), 20);
});

pure("committed() is the highest of limit, quota in force and limits of the last seconds", () => {
  assert.equal(committed(pacedSample(), 0), 500);
  assert.equal(committed(pacedSample({ quota: 700 }), 0), 700);
  assert.equal(committed(pacedSample({ quota: 300 }), 0), 500);
  const lowered = pacedSample({}, { recent: [{ until: 2000, limit: 900 }] });
  assert.equal(committed(lowered, 1999), 900);
  assert.equal(committed(lowered, 2000), 500);
});

pure("committed() frees a floor only once nothing above it can be in force", () => {
  const idle = pacedSample({ floor: 100, least: 10, quota: 500 }, { limit: 100 });
  assert.equal(committed(idle, 0), 500);
  assert.equal(committed({ ...idle, quota: 100 }, 0), 10);
});

pure(
  "committed() frees what was lowered once the quota shows it, if no other change can follow",
  () => {
    const lowered = pacedSample({}, { recent: [{ until: 2000, limit: 900 }] });
    assert.equal(committed({ ...lowered, quota: 510 }, 100), 900);
    assert.equal(committed({ ...lowered, quota: 500 }, 100), 500);
    // From 500 to 900 and back: a quota of 500 may be the one before both.
    const twice = pacedSample({}, {
      recent: [{ until: 1900, limit: 500 }, { until: 2000, limit: 900 }],
    });
    assert.equal(committed({ ...twice, quota: 500 }, 100), 900);
    assert.equal(committed({ ...twice, quota: 500 }, 1950), 500);
  },
);

pure("isThrottled() begins above a hundredth of the limit", () => {
  assert.equal(isThrottled(pacedSample({ throttledMsPerS: 5 })), false);
  assert.equal(isThrottled(pacedSample({ throttledMsPerS: 5.1 })), true);
});

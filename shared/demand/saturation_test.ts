import assert from "node:assert/strict";
import { pure } from "../../tests/fixtures/pure.ts";
import { createSaturation, type DemandSignal, type Saturation } from "./saturation.ts";

/** Readings of containers at their limits: patience is three of them at first, a trial 30. */
const INTERVAL_MS = 50;

/** Eight threads that all wait for a quota of 500 m; fields as given. */
function saturated(fields: Partial<DemandSignal> = {}): DemandSignal {
  const { quota = 500 } = fields;
  return {
    ...{ intervalMs: INTERVAL_MS, usage: quota, throttledMsPerS: 8000 - quota },
    ...{ periods: 2, throttledPeriods: 2, scarcity: 0, waitMs: 100, quota },
    ...fields,
  };
}

/** No period ended in the interval. */
const UNENDED = { periods: 0, throttledPeriods: 0 };

function idle(usage = 300, quota = 500): DemandSignal {
  return saturated({ usage, throttledMsPerS: 0, throttledPeriods: 0, quota });
}

/** The readings of this kind, at most `most`, until a trial begins; and what it wants. */
function untilTrial(
  saturation: Saturation,
  { signal = saturated(), most = 100 } = {},
): [readings: number, wanted: number] {
  for (let readings = 1; readings <= most; readings++) {
    const wanted = saturation(signal, 500).trial;
    if (wanted > 0) return [readings, wanted];
  }
  return [Infinity, 0];
}

/** Plays what a trial shows until it is over; the readings that it took. */
function playTrial(saturation: Saturation, signal: DemandSignal, need: number): number {
  for (let readings = 1; readings <= 1000; readings++) {
    if (saturation(signal, need).trial === 0) return readings;
  }
  return Infinity;
}

/** Trials with this usage and need, one after the other; the readings before each. */
function waits(saturation: Saturation, trials: readonly (readonly [number, number])[]): number[] {
  return trials.map(([usage, need]) => {
    const [readings] = untilTrial(saturation);
    playTrial(saturation, idle(usage, 2000), need);
    return readings;
  });
}

pure("createSaturation() tries more once a quota hides something for its patience", () => {
  const rows: readonly (readonly [Partial<DemandSignal>, readings: number, wanted: number])[] = [
    [{}, 3, 2000],
    // No more than all threads could use.
    [{ throttledMsPerS: 500 }, 3, 1000],
    // Smaller steps where others would have to pay.
    [{ scarcity: 0.5 }, 3, 1375],
    [{ scarcity: 1 }, 3, 750],
    // One thread that wants 580 m of 500: 1.16 of the quota.
    [{ throttledMsPerS: 80 }, Infinity, 0],
    // Longer in proportion where work may wait.
    [{ waitMs: 400 }, 12, 2000],
  ];
  for (const [fields, ...expected] of rows) {
    assert.deepEqual(untilTrial(createSaturation(), { signal: saturated(fields) }), expected);
  }
});

pure("createSaturation() reports for how long a quota has run out, trials and all", () => {
  const saturation = createSaturation();
  const after = (times: number, signal: DemandSignal): number => {
    for (let time = 1; time < times; time++) saturation(signal, 500);
    return saturation(signal, 500).saturatedMs;
  };
  assert.equal(after(100, saturated()), 5000, "trials do not begin it anew");
  assert.equal(after(10, idle()), 4000);
  assert.equal(after(1000, saturated()), 20_000);
  assert.equal(after(1, saturated(UNENDED)), 20_000, "no period ended");
  const { quota: _none, ...free } = idle();
  assert.equal(after(1, free), 0);
});

pure("createSaturation() begins to wait anew when the quota was enough for a reading", () => {
  const saturation = createSaturation();
  for (let time = 0; time < 20; time++) {
    assert.deepEqual(untilTrial(saturation, { most: 2 }), [Infinity, 0]);
    assert.equal(saturation(idle(), 500).trial, 0);
  }
});

pure("createSaturation() takes few of many waiting threads for saturation after 3 s only", () => {
  const few = createSaturation();
  untilTrial(few, { most: 2 });
  // A quarter of the threads seen before.
  const quarter = { signal: saturated({ throttledMsPerS: 1500 }), most: 57 };
  assert.deepEqual(untilTrial(few, quarter), [Infinity, 0]);
  const contended = createSaturation();
  untilTrial(contended, { most: 2 });
  contended(idle(), 500);
  // Other programs keep half of its threads from running: the quota does not throttle them.
  const half = saturated({ throttledMsPerS: 3500 });
  assert.equal(untilTrial(contended, { signal: half })[0], 60);
});

pure(
  "createSaturation() grows more patient with trials that showed nothing, less with others",
  () => {
    const saturation = createSaturation();
    // 150 ms, and half as much again each time up to 1200, in whole readings.
    const nothing = waits(saturation, Array(8).fill([500, 550]));
    assert.deepEqual(nothing, [3, 5, 7, 11, 16, 23, 24, 24]);
    // The need exceeds the quota of before by more than a fifth; or the usage, where the need is late.
    const right = waits(saturation, [[600, 630], [630, 550], ...Array(5).fill([600, 630])]);
    assert.deepEqual(right, [24, 16, 11, 8, 5, 4, 3]);
    assert.deepEqual(waits(saturation, [[600, 590], [600, 590]]), [3, 5]);
  },
);

pure("createSaturation() tries more when a trial is saturated for a second", () => {
  const saturation = createSaturation();
  untilTrial(saturation);
  const risen = saturated({ quota: 2000 });
  let readings = 1;
  while (saturation(risen, 1500).trial === 2000) readings++;
  assert.equal(readings, 20);
  playTrial(saturation, idle(550, 8000), 590);
  // 590 is less than a fifth above the 500 m that it began at: it showed nothing.
  assert.equal(untilTrial(saturation)[0], 5);
});

pure("createSaturation() lets the time of a trial begin when its quota is in force", () => {
  const saturation = createSaturation();
  untilTrial(saturation);
  const wanted = Array.from({ length: 29 }, () => saturation(saturated(), 500).trial);
  assert.deepEqual(wanted, Array(29).fill(2000), "no other trial meanwhile");
  // And the next reading says that it is over.
  assert.equal(playTrial(saturation, idle(900, 2000), 1000), 31);
});

pure("createSaturation() gives up a trial that is not granted, and learns nothing from it", () => {
  const saturation = createSaturation();
  untilTrial(saturation);
  assert.equal(playTrial(saturation, idle(), 500), 80);
  assert.equal(untilTrial(saturation)[0], 3);
  for (let reading = 0; reading < 1000; reading++) {
    assert.equal(saturation(saturated(), 500).trial, 2000, "it goes on while it stays saturated");
  }
});

pure("createSaturation() takes a reading without a period for neither idle nor saturated", () => {
  const saturation = createSaturation();
  // Usage goes on, but throttling is booked when the period ends.
  const readings = [{}, UNENDED, UNENDED, {}];
  const feed = (reading: Partial<DemandSignal>): number =>
    saturation(saturated({ intervalMs: 40, ...reading }), 500).trial;
  assert.deepEqual(readings.map(feed), [0, 0, 0, 2000]);
  const quiet = createSaturation();
  for (let reading = 0; reading < 100; reading++) {
    assert.equal(quiet(saturated(UNENDED), 500).trial, 0);
  }
});

import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import { createSaturation, MOST_SATURATED_MS, type Saturation } from "./saturation.ts";
import type { DemandSignal } from "./demand_rule.ts";

/** A CFS period: readings of containers at their limits. */
const INTERVAL_MS = 100;
/** Settings that the figures here are worked out with. */
const OPTIONS = {
  patienceMs: 300,
  mostPatienceMs: 1000,
  freeGrowth: 4,
  trialMs: 3000,
};

/** Eight threads that all wait for a quota of 500 m; fields as given. */
function saturated(fields: Partial<DemandSignal> = {}): DemandSignal {
  const { quota = 500 } = fields;
  return {
    intervalMs: INTERVAL_MS,
    usage: quota,
    throttledMsPerS: 8000 - quota,
    throttledShare: 1,
    scarcity: 0,
    waitMs: INTERVAL_MS,
    quota,
    ...fields,
  };
}

function idle(usage = 300, quota = 500): DemandSignal {
  return saturated({ usage, throttledMsPerS: 0, throttledShare: 0, quota });
}

/** The readings of this kind, at most `most`, until a trial begins; what it wants. */
function untilTrial(
  saturation: Saturation,
  signal = saturated(),
  { need = 500, most = 100 } = {},
): { readings: number; wanted: number } {
  for (let readings = 1; readings <= most; readings++) {
    const wanted = saturation.feed(signal, need);
    if (wanted > 0) return { readings, wanted };
  }
  return { readings: Infinity, wanted: 0 };
}

/** Plays what a trial shows until it is over; the readings that it took. */
function playTrial(saturation: Saturation, signal: DemandSignal, need: number): number {
  for (let readings = 1; readings <= 1000; readings++) {
    if (saturation.feed(signal, need) === 0) return readings;
  }
  return Infinity;
}

pure("createSaturation() tries four times the quota once that has run out for its patience", () => {
  const found = untilTrial(createSaturation(OPTIONS));
  assert.deepEqual(found, { readings: 3, wanted: 2000 });
});

pure("createSaturation() tries nothing while no quota runs out, or where there is none", () => {
  const number = fc.double({ min: 0, max: 64_000, noNaN: true });
  const signal = fc.record({ usage: number, throttledMsPerS: number, quota: number });
  fc.assert(fc.property(fc.array(signal), fc.boolean(), (signals, isLimited) => {
    const saturation = createSaturation(OPTIONS);
    for (const one of signals) {
      const how = isLimited ? { throttledShare: 0 } : { quota: undefined };
      assert.equal(saturation.feed({ ...saturated(one), ...how }, 0), 0);
    }
  }));
});

pure("createSaturation() reports for how long a quota has run out, trials and all", () => {
  const saturation = createSaturation(OPTIONS);
  for (let time = 0; time < 100; time++) saturation.feed(saturated(), 500);
  assert.equal(saturation.saturatedMs, 10_000, "trials do not begin it anew");
  for (let time = 0; time < 10; time++) saturation.feed(idle(), 500);
  assert.equal(saturation.saturatedMs, 8000);
  for (let time = 0; time < 1000; time++) saturation.feed(saturated(), 500);
  assert.equal(saturation.saturatedMs, MOST_SATURATED_MS);
  saturation.feed(saturated({ throttledShare: undefined }), 500);
  assert.equal(saturation.saturatedMs, MOST_SATURATED_MS, "no period ended: nothing is known");
  saturation.feed(saturated({ quota: undefined, throttledShare: 0 }), 500);
  assert.equal(saturation.saturatedMs, 0);
});

pure("createSaturation() begins to wait anew when the quota was enough for a reading", () => {
  const saturation = createSaturation(OPTIONS);
  for (let time = 0; time < 20; time++) {
    assert.equal(untilTrial(saturation, saturated(), { most: 2 }).wanted, 0);
    assert.equal(saturation.feed(idle(), 500), 0);
  }
});

pure("createSaturation() does not wait for a quota that hides little", () => {
  // One thread that wants 580 m of 500: 1.16 of the quota.
  const mild = saturated({ throttledMsPerS: 80 });
  assert.equal(untilTrial(createSaturation(OPTIONS), mild).wanted, 0);
});

pure("createSaturation() is not fooled by a few of many threads that wait", () => {
  const saturation = createSaturation(OPTIONS);
  untilTrial(saturation, saturated(), { most: 2 });
  // A quarter of the threads seen before.
  assert.equal(
    untilTrial(saturation, saturated({ throttledMsPerS: 1500 }), { most: 27 }).wanted,
    0,
  );
});

pure(
  "createSaturation() takes a quota that runs out for three seconds for one that hides something",
  () => {
    const saturation = createSaturation(OPTIONS);
    for (let reading = 0; reading < 2; reading++) saturation.feed(saturated(), 500);
    saturation.feed(idle(), 500);
    // Other programs keep half of its threads from running: the quota does not throttle them.
    const contended = saturated({ throttledMsPerS: 3500 });
    assert.equal(untilTrial(saturation, contended).readings, 30);
  },
);

pure("createSaturation() tries no more than all threads could use", () => {
  const { wanted } = untilTrial(createSaturation(OPTIONS), saturated({ throttledMsPerS: 500 }));
  assert.equal(wanted, 1000);
});

pure("createSaturation() takes smaller steps where others would have to pay", () => {
  const wantedAt = (scarcity: number) =>
    untilTrial(createSaturation(OPTIONS), saturated({ scarcity })).wanted;
  assert.deepEqual([0, 0.5, 1].map(wantedAt), [2000, 1375, 750]);
});

pure("createSaturation() bounds every trial by threads and growth, whatever it is fed", () => {
  const signal = fc.record({
    usage: fc.double({ min: 0, max: 8000, noNaN: true }),
    throttledMsPerS: fc.double({ min: 0, max: 64_000, noNaN: true }),
    throttledShare: fc.constantFrom(0, 0.5, 1),
    quota: fc.integer({ min: 10, max: 8000 }),
    scarcity: fc.double({ min: 0, max: 1, noNaN: true }),
  });
  fc.assert(fc.property(fc.array(signal, { maxLength: 200 }), (signals) => {
    const saturation = createSaturation(OPTIONS);
    let mostThreads = 0;
    let mostQuota = 0;
    for (const one of signals) {
      mostThreads = Math.max(mostThreads, one.usage + one.throttledMsPerS);
      mostQuota = Math.max(mostQuota, one.quota);
      const wanted = saturation.feed(saturated(one), one.usage);
      assert.ok(wanted >= 0 && wanted <= Math.min(mostThreads, OPTIONS.freeGrowth * mostQuota));
    }
  }));
});

pure("createSaturation() ends a trial after its time", () => {
  const saturation = createSaturation(OPTIONS);
  untilTrial(saturation);
  // 3000 ms with the larger quota are 30 readings, and the next says that it is over.
  assert.equal(playTrial(saturation, idle(900, 2000), 1000), OPTIONS.trialMs / INTERVAL_MS + 1);
});

pure(
  "createSaturation() grows more patient with each trial that showed nothing, up to a bound",
  () => {
    const saturation = createSaturation(OPTIONS);
    const patience = Array.from({ length: 5 }, () => {
      const { readings } = untilTrial(saturation);
      playTrial(saturation, idle(500, 2000), 550);
      return readings * INTERVAL_MS;
    });
    // 300, 450, 675 and 1000 ms, in whole readings.
    assert.deepEqual(patience, [300, 500, 700, 1000, 1000]);
  },
);

pure("createSaturation() is quicker again after a trial that was right", () => {
  const saturation = createSaturation(OPTIONS);
  for (let time = 0; time < 4; time++) {
    untilTrial(saturation);
    playTrial(saturation, idle(500, 2000), 550);
  }
  untilTrial(saturation);
  // What it showed exceeds the quota of before by more than a fifth.
  playTrial(saturation, idle(600, 2000), 630);
  // From the 1000 ms at most to 1000 / 1.5.
  assert.equal(untilTrial(saturation).readings, 7);
  for (let time = 0; time < 4; time++) {
    playTrial(saturation, idle(600, 2000), 630);
    untilTrial(saturation);
  }
  playTrial(saturation, idle(600, 2000), 630);
  assert.equal(untilTrial(saturation).readings, 3, "never quicker than at first");
});

pure("createSaturation() takes a trial for right by its usage, if the need follows late", () => {
  const saturation = createSaturation(OPTIONS);
  untilTrial(saturation);
  playTrial(saturation, idle(630, 2000), 550);
  assert.equal(untilTrial(saturation).readings, 3, "no more patient");
});

pure("createSaturation() waits longer in proportion where work may", () => {
  const longer = saturated({ waitMs: 4 * INTERVAL_MS });
  assert.equal(untilTrial(createSaturation(OPTIONS), longer).readings, 12);
});

pure(
  "createSaturation() tries more when a trial is saturated for a second, and judges by the first quota",
  () => {
    const saturation = createSaturation(OPTIONS);
    untilTrial(saturation);
    const risen = saturated({ quota: 2000 });
    let readings = 1;
    while (saturation.feed(risen, 1500) === 2000) readings++;
    assert.equal(readings, 10);
    playTrial(saturation, idle(550, 8000), 590);
    // 590 is less than a fifth above the 500 m that it began at: it showed nothing.
    assert.equal(untilTrial(saturation).readings, 5);
  },
);

pure("createSaturation() lets the time of a trial begin when its quota is in force", () => {
  const saturation = createSaturation(OPTIONS);
  untilTrial(saturation);
  for (let waited = 0; waited < 2000; waited += INTERVAL_MS) saturation.feed(saturated(), 500);
  assert.equal(playTrial(saturation, idle(900, 2000), 1000), OPTIONS.trialMs / INTERVAL_MS + 1);
});

pure("createSaturation() gives up a trial that is not granted, and learns nothing from it", () => {
  const saturation = createSaturation(OPTIONS);
  untilTrial(saturation);
  // The quota stays at what it was, for longer than a trial lasts.
  const readings = playTrial(saturation, idle(), 500);
  assert.ok(readings * INTERVAL_MS > OPTIONS.trialMs && readings * INTERVAL_MS < 10_000);
  assert.equal(untilTrial(saturation).readings, OPTIONS.patienceMs / INTERVAL_MS);
});

pure(
  "createSaturation() goes on asking while a container stays saturated and nothing is granted",
  () => {
    const saturation = createSaturation(OPTIONS);
    untilTrial(saturation);
    for (let reading = 0; reading < 1000; reading++) {
      assert.equal(saturation.feed(saturated(), 500), 2000);
    }
  },
);

pure(
  "createSaturation() takes a reading in which no period ended for neither idle nor saturated",
  () => {
    const saturation = createSaturation(OPTIONS);
    // Two to a period. Usage goes on, but throttling is booked when the period ends.
    const half = { intervalMs: INTERVAL_MS / 2 };
    const wanted = [0, 1, 2, 3, 4, 5].map((place) =>
      saturation.feed(saturated({ ...half, throttledShare: place % 2 === 0 ? 1 : undefined }), 500)
    );
    assert.deepEqual(wanted, [0, 0, 0, 0, 0, 2000]);
    const quiet = createSaturation(OPTIONS);
    for (let reading = 0; reading < 100; reading++) {
      assert.equal(quiet.feed(saturated({ ...half, throttledShare: undefined }), 500), 0);
    }
  },
);

pure("createSaturation() does not repeat a trial while the larger quota is not there yet", () => {
  const saturation = createSaturation(OPTIONS);
  untilTrial(saturation);
  const wanted = Array.from({ length: 29 }, () => saturation.feed(saturated(), 500));
  assert.deepEqual(wanted, Array(29).fill(2000));
});

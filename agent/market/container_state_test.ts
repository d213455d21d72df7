import assert from "node:assert/strict";
import { pure } from "../../tests/fixtures/pure.ts";
import {
  addSample,
  type ContainerState,
  isQuotaOff,
  lacksQuota,
  limitWithoutQuota,
  PEAK_FADE_MS,
  QUOTA_OFF_MS,
  quotaAfter,
  type QuotaState,
} from "./container_state.ts";
import { newPaceMemory } from "../../shared/pacing/paced_container.ts";
import { sampleReading } from "../../tests/fixtures/market/sample_participants.ts";

type Sample = { readonly at: number; readonly quota?: number };

function after(...samples: readonly Sample[]): { quota: QuotaState; sample?: Sample } {
  const quota = samples.reduce<QuotaState>(quotaAfter, { reported: false });
  const sample = samples.at(-1);
  return { quota, ...(sample === undefined ? {} : { sample }) };
}

pure("quotaAfter() keeps nothing but what was reported of a container that has its quota", () => {
  assert.deepEqual(after({ at: 0 }, { at: 250, quota: 500 }).quota, { reported: false });
  const quota = quotaAfter({ missingSince: 0, reported: true }, { at: 250, quota: 500 });
  assert.deepEqual(quota, { reported: true });
});

pure("lacksQuota() is true from the first sample without one, isQuotaOff() after a while", () => {
  const states = [
    after(),
    after({ at: 1000, quota: 500 }, { at: 2000 }),
    after({ at: 2000 }, { at: 2000 + QUOTA_OFF_MS - 1 }),
    after({ at: 2000 }, { at: 2000 + QUOTA_OFF_MS }),
  ];
  assert.deepEqual(states.map((state) => [lacksQuota(state), isQuotaOff(state)]), [
    [false, false],
    [true, false],
    [true, false],
    [true, true],
  ]);
});

pure("isQuotaOff() counts anew after a sample with a quota", () => {
  const again = after({ at: 0 }, { at: QUOTA_OFF_MS - 1, quota: 500 }, { at: QUOTA_OFF_MS });
  assert.equal(isQuotaOff(again), false);
});

/** Limits on the way from `present`, each step due. */
function way(
  bounds: Parameters<typeof limitWithoutQuota>[0],
  { present, originalLimit }: { present: number; originalLimit: number },
): number[] {
  const limits: number[] = [];
  for (let limit = present; limits.length < 20; limits.push(limit)) {
    const next = limitWithoutQuota(bounds, { present: limit, originalLimit, isStepDue: true });
    if (next === limit) break;
    limit = next;
  }
  return limits;
}

pure("limitWithoutQuota() goes to the original limit, as holds let it", () => {
  const bounds = { floor: 100, ceiling: 2000 };
  const above = { present: 800, originalLimit: 500 };
  const below = { present: 300, originalLimit: 500 };
  assert.deepEqual(way(bounds, above), [500]);
  assert.deepEqual(way({ ...bounds, held: "half" }, above), [650, 580, 540, 520, 500]);
  assert.deepEqual(way({ ...bounds, held: "lower" }, above), []);
  assert.deepEqual(way({ ...bounds, held: "both" }, above), []);
  for (const held of [undefined, "half", "lower"] as const) {
    assert.deepEqual(way({ ...bounds, ...(held && { held }) }, below), [500], held);
  }
  assert.deepEqual(way({ ...bounds, held: "both" }, below), []);
});

pure(
  "limitWithoutQuota() reaches an original limit off the grid, by half steps too, and then stays",
  () => {
    for (let present = 500; present <= 1000; present++) {
      for (const originalLimit of [495, 500, 503, 510]) {
        const limits = way({ floor: 100, ceiling: 2000, held: "half" }, { present, originalLimit });
        assert.equal(limits.at(-1) ?? present, originalLimit, `${present} to ${originalLimit}`);
        assert.ok(limits.length < 10);
      }
    }
  },
);

pure(
  "limitWithoutQuota() stays within the bounds, and takes half steps only when they are due",
  () => {
    const present = 800;
    const limit = (bounds: Parameters<typeof limitWithoutQuota>[0], isStepDue = true) =>
      limitWithoutQuota(bounds, { present, originalLimit: 500, isStepDue });
    assert.equal(limit({ floor: 600, ceiling: 2000 }), 600);
    assert.equal(limit({ floor: 100, ceiling: 400 }), 400);
    assert.equal(limit({ floor: 100, ceiling: 2000, held: "half" }, false), 800);
    assert.equal(limit({ floor: 100, ceiling: 2000 }, false), 500);
  },
);

function newState(): { state: ContainerState; shares: (number | undefined)[] } {
  const shares: (number | undefined)[] = [];
  const state: ContainerState = {
    quota: { reported: false },
    rule: ({ usage, throttledShare }) => {
      shares.push(throttledShare);
      return { mean: usage, burstinessMs: 0, trial: usage * 2, saturatedMs: 0 };
    },
    peak: 0,
    throttledMs: 0,
    pace: newPaceMemory(500, 0),
    credit: 1,
  };
  return { state, shares };
}

pure("addSample() feeds each sample once, and nothing where there is none", () => {
  const { state, shares } = newState();
  addSample(state, { sample: undefined, scarcity: 0, waitMs: 75 });
  assert.equal(state.demand, undefined);
  const sample = sampleReading("a", {
    at: 250,
    periods: 4,
    throttledPeriods: 1,
    throttledMsPerS: 80,
  });
  addSample(state, { sample, scarcity: 0, waitMs: 75 });
  addSample(state, { sample, scarcity: 0, waitMs: 75 });
  assert.equal(state.demand, 600);
  assert.deepEqual(shares, [0.25]);
  assert.equal(state.throttledMs, 20, "80 ms/s for a quarter of a second");
});

pure("addSample() lets a peak fade, and takes a higher one at once", () => {
  const { state } = newState();
  addSample(state, { sample: sampleReading("a", { at: 1, usage: 1000 }), scarcity: 0, waitMs: 75 });
  const quiet = { usage: 0, intervalMs: PEAK_FADE_MS * Math.LN2 };
  addSample(state, { sample: sampleReading("a", { at: 2, ...quiet }), scarcity: 0, waitMs: 75 });
  assert.ok(Math.abs(state.peak - 500) < 1e-9);
  addSample(state, { sample: sampleReading("a", { at: 3, usage: 800 }), scarcity: 0, waitMs: 75 });
  assert.equal(state.peak, 800);
});

pure("addSample() counts the warm-up from the first reading, however late that comes", () => {
  const { state } = newState();
  addSample(state, { sample: sampleReading("a", { at: 60_250 }), scarcity: 0, waitMs: 75 });
  assert.equal(state.pace.since, 60_000);
  addSample(state, { sample: sampleReading("a", { at: 60_500 }), scarcity: 0, waitMs: 75 });
  assert.equal(state.pace.since, 60_000);
});

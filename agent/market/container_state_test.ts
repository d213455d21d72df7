import assert from "node:assert/strict";
import { sampleReading } from "../../tests/fixtures/market/sample_participants.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import {
  addSample,
  type ContainerState,
  isQuotaOff,
  lacksQuota,
  limitWithoutQuota,
  newContainerState,
  PEAK_FADE_MS,
  QUOTA_OFF_MS,
} from "./container_state.ts";

type Sample = { readonly at: number; readonly quota?: number };

/** Samples, whether the limit must stay, and whether no quota is expected any more. */
const QUOTAS: readonly (readonly [readonly Sample[], boolean, boolean])[] = [
  [[], false, false],
  [[{ at: 1000, quota: 500 }, { at: 2000 }], true, false],
  [[{ at: 2000 }, { at: 2000 + QUOTA_OFF_MS - 1 }], true, false],
  [[{ at: 2000 }, { at: 2000 + QUOTA_OFF_MS }], true, true],
  [[{ at: 0 }, { at: QUOTA_OFF_MS - 1, quota: 500 }, { at: QUOTA_OFF_MS }], true, false],
  [[{ at: 0 }, { at: 250, quota: 500 }], false, false],
];

pure("isQuotaOff() counts from the first of the latest samples without a quota", () => {
  for (const [samples, lacks, isOff] of QUOTAS) {
    const rule = () => ({ mean: 0, burstinessMs: 0, trial: 0, saturatedMs: 0 });
    const start = { limit: 500, now: 0, rule, credit: 1, reason: "QuotaOff" };
    const state = newContainerState(start);
    for (const sample of samples) {
      const { quota: _usual, ...reading } = sampleReading("a", sample);
      addSample(state, { sample: { ...reading, ...sample }, scarcity: 0, waitMs: 100 });
    }
    assert.deepEqual([lacksQuota(state), isQuotaOff(state)], [lacks, isOff]);
    assert.equal(state.quotaOffReported, true);
  }
});

type Bounds = Parameters<typeof limitWithoutQuota>[0];

/** Limits on the way from `present` to an original limit, each step due. */
function way(bounds: Partial<Bounds>, present: number, originalLimit = 500): number[] {
  const limits: number[] = [];
  for (let limit = present; limits.length < 20; limits.push(limit)) {
    const options = { present: limit, originalLimit, isStepDue: true };
    const next = limitWithoutQuota({ floor: 100, ceiling: 2000, ...bounds }, options);
    if (next === limit) break;
    limit = next;
  }
  return limits;
}

const WAYS: readonly (readonly [Partial<Bounds>, number, readonly number[]])[] = [
  [{}, 800, [500]],
  [{ held: "half" }, 800, [650, 580, 540, 520, 500]],
  [{ held: "lower" }, 800, []],
  [{ held: "both" }, 800, []],
  [{}, 300, [500]],
  [{ held: "half" }, 300, [500]],
  [{ held: "lower" }, 300, [500]],
  [{ held: "both" }, 300, []],
  [{ floor: 600 }, 800, [600]],
  [{ ceiling: 400 }, 800, [400]],
];

pure("limitWithoutQuota() goes to the original limit, as bounds and holds let it", () => {
  for (const [bounds, present, limits] of WAYS) {
    assert.deepEqual(way(bounds, present), limits, JSON.stringify([bounds, present]));
  }
  const notDue = { present: 800, originalLimit: 500, isStepDue: false };
  const bounds = { floor: 100, ceiling: 2000 };
  assert.equal(limitWithoutQuota({ ...bounds, held: "half" }, notDue), 800);
  assert.equal(limitWithoutQuota(bounds, notDue), 500);
  // An original limit off the grid is reached by half steps too.
  for (let present = 500; present <= 1000; present++) {
    for (const originalLimit of [495, 500, 503, 510]) {
      const limits = way({ held: "half" }, present, originalLimit);
      assert.equal(limits.at(-1) ?? present, originalLimit, `${present} to ${originalLimit}`);
      assert.ok(limits.length < 10);
    }
  }
});

/** A state that is fed with samples; `shares` are the throttled shares that its rule was given. */
function fed() {
  const shares: number[] = [];
  const state: ContainerState = newContainerState({
    ...{ limit: 500, now: 0, credit: 1 },
    rule({ usage, periods, throttledPeriods }) {
      shares.push(throttledPeriods / periods);
      return { mean: usage, burstinessMs: 0, trial: usage * 2, saturatedMs: 0 };
    },
  });
  const add = (sample?: Parameters<typeof sampleReading>[1]): ContainerState => {
    const reading = sample && sampleReading("a", sample);
    addSample(state, { sample: reading, scarcity: 0, waitMs: 75 });
    return state;
  };
  return { add, shares };
}

pure("addSample() feeds each sample once, and nothing where there is none", () => {
  const { add, shares } = fed();
  assert.equal(add().demand, undefined);
  const sample = { at: 250, periods: 4, throttledPeriods: 1, throttledMsPerS: 80 };
  add(sample);
  const { demand, throttledMs } = add(sample);
  // 80 ms/s for a quarter of a second.
  assert.deepEqual([demand, shares, throttledMs], [600, [0.25], 20]);
});

pure("addSample() lets a peak fade, and takes a higher one at once", () => {
  const { add } = fed();
  add({ at: 1, usage: 1000 });
  const { peak } = add({ at: 2, usage: 0, intervalMs: PEAK_FADE_MS * Math.LN2 });
  assert.ok(Math.abs(peak - 500) < 1e-9);
  assert.equal(add({ at: 3, usage: 800 }).peak, 800);
});

pure("addSample() counts the warm-up from the first reading, however late that comes", () => {
  const { add } = fed();
  for (const at of [60_250, 60_500]) assert.equal(add({ at }).pace.since, 60_000);
});

import assert from "node:assert/strict";
import { sampleReading } from "../../tests/fixtures/market/sample_participants.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import {
  addSample,
  type ContainerState,
  limitWithoutQuota,
  newContainerState,
  PEAK_FADE_MS,
} from "./container_state.ts";

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

pure("limitWithoutQuota() reaches an original limit off the grid by half steps, too", () => {
  assert.deepEqual([way({ floor: 600 }, 800), way({ ceiling: 400 }, 800)], [[600], [400]]);
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

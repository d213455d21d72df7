import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { newPaceMemory } from "../../shared/pacing/paced_container.ts";
import { sampleReading } from "../../tests/fixtures/market/sample_participants.ts";
import { addSample, type ContainerState, PEAK_FADE_MS } from "./container_state.ts";

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

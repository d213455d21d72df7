import assert from "node:assert/strict";
import { newPaceMemory } from "../shared/pacing/paced_container.ts";
import { type ContainerPage, forgetOthers, PEAK_FADE_MS, readSample } from "./container_book.ts";
import { sampleReading } from "../tests/fixtures/sample_seat.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function newPage(): { page: ContainerPage; shares: (number | undefined)[] } {
  const shares: (number | undefined)[] = [];
  const page: ContainerPage = {
    rule: ({ usage, throttledShare }) => {
      shares.push(throttledShare);
      return { mean: usage, burstinessMs: 0, trial: usage * 2, saturatedMs: 0 };
    },
    peak: 0,
    heldBackMs: 0,
    pace: newPaceMemory(500, 0),
    credit: 1,
  };
  return { page, shares };
}

pure("readSample() feeds each sample once, and nothing where there is none", () => {
  const { page, shares } = newPage();
  readSample(page, { sample: undefined, scarcity: 0, waitMs: 75 });
  assert.equal(page.demand, undefined);
  const sample = sampleReading("a", { at: 250, periods: 4, throttledPeriods: 1, heldBack: 80 });
  readSample(page, { sample, scarcity: 0, waitMs: 75 });
  readSample(page, { sample, scarcity: 0, waitMs: 75 });
  assert.equal(page.demand, 600);
  assert.deepEqual(shares, [0.25]);
  assert.equal(page.heldBackMs, 20, "80 ms/s for a quarter of a second");
});

pure("readSample() lets a peak fade, and takes a higher one at once", () => {
  const { page } = newPage();
  readSample(page, { sample: sampleReading("a", { at: 1, usage: 1000 }), scarcity: 0, waitMs: 75 });
  const quiet = { usage: 0, intervalMs: PEAK_FADE_MS * Math.LN2 };
  readSample(page, { sample: sampleReading("a", { at: 2, ...quiet }), scarcity: 0, waitMs: 75 });
  assert.ok(Math.abs(page.peak - 500) < 1e-9);
  readSample(page, { sample: sampleReading("a", { at: 3, usage: 800 }), scarcity: 0, waitMs: 75 });
  assert.equal(page.peak, 800);
});

pure("readSample() counts the warm-up from the first reading, however late that comes", () => {
  const { page } = newPage();
  readSample(page, { sample: sampleReading("a", { at: 60_250 }), scarcity: 0, waitMs: 75 });
  assert.equal(page.pace.since, 60_000);
  readSample(page, { sample: sampleReading("a", { at: 60_500 }), scarcity: 0, waitMs: 75 });
  assert.equal(page.pace.since, 60_000);
});

pure("forgetOthers() drops the pages of containers that are not named", () => {
  const book = new Map([["aa", newPage().page], ["bb", newPage().page]]);
  forgetOthers(book, new Set(["bb", "cc"]));
  assert.deepEqual([...book.keys()], ["bb"]);
});

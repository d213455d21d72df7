import { near } from "../../../tests/fixtures/near.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import { createDecayingHistogram } from "./decaying_histogram.ts";

const DAY_MS = 86_400_000;

/** The end of bucket n as a sum: 10 + 10.5 + 11.025 + … */
function endOf(bucket: number): number {
  let end = 0;
  for (let index = 0; index <= bucket; index++) end += 10 * 1.05 ** index;
  return end;
}

pure("createDecayingHistogram() reads the end of the bucket where the share is reached", () => {
  const histogram = createDecayingHistogram();
  for (let sample = 0; sample < 9; sample++) {
    histogram.add({ value: 5, weight: 1, atMs: 0 });
  }
  // 20.5 to 31.525 m is the third bucket.
  histogram.add({ value: 25, weight: 1, atMs: 0 });
  near(histogram.percentile(0.9), 10);
  near(histogram.percentile(0.91), endOf(2));
  near(endOf(2), 31.525);
});

pure("createDecayingHistogram() weighs samples, and halves their weight in a day", () => {
  const histogram = createDecayingHistogram();
  histogram.add({ value: 100, weight: 3, atMs: 0 });
  histogram.add({ value: 5, weight: 2, atMs: DAY_MS });
  // 2 of 2 + 3 / 2 are 0.571.
  near(histogram.percentile(0.57), 10);
  assert.ok(histogram.percentile(0.58) > 100);
});

pure("createDecayingHistogram() is at most 5 % and one bucket of 10 m above the only value", () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0, max: 64_000, noNaN: true }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (value, share) => {
        const histogram = createDecayingHistogram();
        histogram.add({ value, weight: 1, atMs: 0 });
        const read = histogram.percentile(share);
        assert.ok(read >= value * (1 - 1e-9) && read <= value * 1.05 + 10.001, `${read}`);
      },
    ),
  );
});

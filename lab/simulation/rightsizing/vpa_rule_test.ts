import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import type { RuleRun } from "./rule.ts";
import { vpaRule } from "./vpa_rule.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const MEBIBYTE = 2 ** 20;
/** 2021: times since 1970 must not make weights infinite. */
const START_MS = 1_633_478_400_000;

/** End of the bucket that `value` lies in, widths from `first` on by 5 %: as a sum. */
function bucketEnd(value: number, first: number): number {
  let end = 0;
  for (let width = first; end <= value; width *= 1.05) end += width;
  return end;
}

/** A sample a minute of so many minutes. */
function feed(
  run: RuleRun,
  { usage, minutes, fromMs = START_MS, inForce = 1000 }: {
    readonly usage: number;
    readonly minutes: number;
    readonly fromMs?: number;
    readonly inForce?: number;
  },
): number {
  for (let minute = 0; minute < minutes; minute++) {
    run.observe({ atMs: fromMs + minute * MINUTE_MS, usage, inForce });
  }
  return fromMs + minutes * MINUTE_MS;
}

pure("vpaRule() says nothing before the first sample", () => {
  assert.equal(vpaRule().begin("cpu").recommend(START_MS), undefined);
  assert.equal(vpaRule().begin("memory").recommend(START_MS), undefined);
});

pure("vpaRule() recommends the end of the bucket of the 90th percentile, and 15 % more", () => {
  const run = vpaRule().begin("cpu");
  let now = feed(run, { usage: 150, minutes: 92 });
  now = feed(run, { usage: 900, minutes: 8, fromMs: now });
  assert.equal(run.recommend(now)?.value, Math.ceil(bucketEnd(150, 10) * 1.15));
  now = feed(run, { usage: 900, minutes: 8, fromMs: now });
  assert.equal(run.recommend(now)?.value, Math.ceil(bucketEnd(900, 10) * 1.15));
});

pure("vpaRule() weighs a sample of yesterday half, and by the request at its time", () => {
  // 11.1 % of the weight of today is more than a tenth of all, a day later it is not.
  const weighed = (pauseMs: number, inForce: number): number | undefined => {
    const run = vpaRule().begin("cpu");
    const now = feed(run, { usage: 900, minutes: 15, inForce });
    const end = feed(run, { usage: 150, minutes: 120, fromMs: now + pauseMs });
    return run.recommend(end)?.value;
  };
  const [low, high] = [150, 900].map((usage) => Math.ceil(bucketEnd(usage, 10) * 1.15));
  assert.equal(weighed(0, 1000), high);
  assert.equal(weighed(DAY_MS, 1000), low);
  assert.equal(weighed(0, 500), low);
});

pure("vpaRule() bounds: wide with little history, and never below the least", () => {
  const run = vpaRule().begin("cpu");
  const now = feed(run, { usage: 150, minutes: 1440 });
  const target = bucketEnd(150, 10) * 1.15;
  const { lower = NaN, upper = NaN } = run.recommend(now) ?? {};
  // A day: 1 + 1 / 1, and 1.001^−2.
  assert.equal(upper, Math.ceil(target * 2));
  assert.equal(lower, Math.ceil(target * 1.001 ** -2));
  const idle = vpaRule().begin("cpu");
  assert.equal(idle.recommend(feed(idle, { usage: 1, minutes: 1440 }))?.value, 25);
});

pure("vpaRule() sees of memory the peak of each 24 hours alone", () => {
  const run = vpaRule().begin("memory");
  let now = feed(run, { usage: 300 * MEBIBYTE, minutes: 1439 });
  now = feed(run, { usage: 900 * MEBIBYTE, minutes: 1, fromMs: now });
  const high = Math.ceil(bucketEnd(900 * MEBIBYTE, 1e7) * 1.15);
  assert.equal(run.recommend(now)?.value, high);
  // Peaks of 300 Mi weigh 2, 4 and 8: after three of them the first has 1/15, under a tenth.
  now = feed(run, { usage: 300 * MEBIBYTE, minutes: 2880, fromMs: now });
  assert.equal(run.recommend(now)?.value, high);
  now = feed(run, { usage: 300 * MEBIBYTE, minutes: 1440, fromMs: now });
  assert.equal(run.recommend(now)?.value, Math.ceil(bucketEnd(300 * MEBIBYTE, 1e7) * 1.15));
});

pure("vpaRule() takes a kill for a peak of a fifth more, or of 100 Mi more", () => {
  const after = (mebibytes: number): number | undefined => {
    const run = vpaRule().begin("memory");
    const now = feed(run, { usage: MEBIBYTE, minutes: 10 });
    const inForce = mebibytes * MEBIBYTE;
    run.killed({ atMs: now, inForce, limit: inForce });
    return run.recommend(now + MINUTE_MS)?.value;
  };
  assert.equal(after(400), Math.ceil(bucketEnd(500 * MEBIBYTE, 1e7) * 1.15));
  assert.equal(after(1000), Math.ceil(bucketEnd(1200 * MEBIBYTE, 1e7) * 1.15));
  // Little memory: the least that it recommends.
  const idle = vpaRule().begin("memory");
  assert.equal(idle.recommend(feed(idle, { usage: 1, minutes: 10 }))?.value, 250 * MEBIBYTE);
});

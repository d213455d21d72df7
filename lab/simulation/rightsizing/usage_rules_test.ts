import assert from "node:assert/strict";
import type { ResourceName } from "../../../shared/api/pod.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { readShippedText } from "../trace_files.ts";
import type { Proposal, RuleRun } from "./rule.ts";
import { readUsage, scaledTo, usageHistory } from "./usage_history.ts";
import { vpaRule } from "./vpa_rule.ts";
import { type PercentileOptions, percentileRule } from "./replay_policy.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const MEBIBYTE = 2 ** 20;

function begin(options: Partial<PercentileOptions> = {}, resource: ResourceName = "cpu"): RuleRun {
  return percentileRule("coallocator", {
    percentile: "P90",
    safetyFactor: 1.2,
    windowMs: DAY_MS,
    minSamples: 1,
    ...options,
  }).begin(resource);
}

/** A sample a minute, and what is recommended after the last. */
function recommended(run: RuleRun, values: readonly number[]): Proposal | undefined {
  values.forEach((usage, index) => run.observe({ atMs: index * MINUTE_MS, usage }));
  return run.recommend(values.length * MINUTE_MS);
}

pure("percentileRule() is the percentile times the factor, cut to whole units", () => {
  assert.deepEqual(recommended(begin(), [300, 100, 200]), { value: 336, peak: 300 });
  assert.equal(recommended(begin({ percentile: "P50" }), [73847603])?.value, 88617123);
  assert.equal(recommended(begin({ safetyFactor: 1 }), [99.99])?.value, 99);
});

pure("percentileRule() says its parameters", () => {
  const setting = (options: Partial<PercentileOptions>): string =>
    percentileRule("coallocator", {
      percentile: "P95",
      safetyFactor: 1.2,
      windowMs: DAY_MS,
      ...options,
    })
      .setting;
  assert.equal(setting({}), "P95 × 1.2, 24 h");
  assert.equal(setting({ windowMs: 7 * DAY_MS, safetyFactor: 1 }), "P95, 7 d");
  assert.equal(setting({ windowMs: 30 * MINUTE_MS }), "P95 × 1.2, 0.5 h");
});

pure("percentileRule() takes samples of (now − window, now]", () => {
  const run = begin({ percentile: "P50", safetyFactor: 1, windowMs: 10 * MINUTE_MS });
  run.observe({ atMs: 0, usage: 900 });
  run.observe({ atMs: 1, usage: 100 });
  assert.equal(run.recommend(10 * MINUTE_MS - 1)?.value, 500);
  // The first is as old as the window now.
  assert.deepEqual(run.recommend(10 * MINUTE_MS), { value: 100, peak: 100 });
  assert.equal(run.recommend(20 * MINUTE_MS), undefined);
});

pure("percentileRule() stays above a limit that killed by a fifth or 100 Mi, for a window", () => {
  const after = (limit: number, atMs: number): number | undefined => {
    const run = begin({}, "memory");
    run.observe({ atMs: 0, usage: MEBIBYTE });
    run.killed({ atMs: 0, inForce: limit, limit });
    run.observe({ atMs: DAY_MS, usage: MEBIBYTE });
    return run.recommend(atMs)?.value;
  };
  assert.equal(after(200 * MEBIBYTE, DAY_MS - 1), 300 * MEBIBYTE);
  assert.equal(after(1000 * MEBIBYTE, DAY_MS - 1), 1200 * MEBIBYTE);
  assert.equal(after(1000 * MEBIBYTE, DAY_MS), Math.trunc(1.2 * MEBIBYTE));
});

pure("percentileRule() raises the cut-off usage by that share, CPU alone and only if asked", () => {
  const after = (
    options: Partial<PercentileOptions>,
    { held, resource = "cpu" }: { readonly held: number; readonly resource?: ResourceName },
  ): number | undefined => {
    const run = percentileRule("coallocator", {
      percentile: "P90",
      safetyFactor: 1,
      windowMs: DAY_MS,
      ...options,
    }).begin(resource);
    for (let index = 0; index < 100; index++) {
      run.observe({
        atMs: index * MINUTE_MS,
        usage: 1000,
        ...(index < held ? { throttled: true } : {}),
      });
    }
    return run.recommend(100 * MINUTE_MS)?.value;
  };
  assert.equal(after({ correctsThrottling: true }, { held: 50 }), 1500);
  // The percentile lies below what was cut off.
  assert.equal(after({ correctsThrottling: true }, { held: 5 }), 1000);
  assert.equal(after({}, { held: 50 }), 1000);
  assert.equal(after({ correctsThrottling: true }, { held: 50, resource: "memory" }), 1000);
  assert.equal(after({ correctsThrottling: true, windowMs: 50 * MINUTE_MS }, { held: 50 }), 1000);
});

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

const CPU = { name: "f", resource: "cpu" } as const;

pure("usageHistory() keeps gaps, and takes the most frequent distance for the step", () => {
  const { atMs, values, stepMs } = usageHistory(
    [0, 60, 120, 600, 660].map((atS) => ({ atS, value: atS / 1000 })),
    CPU,
  );
  assert.equal(stepMs, 60_000);
  assert.deepEqual([...atMs], [0, 60_000, 120_000, 600_000, 660_000]);
  assert.deepEqual([...values], [0, 60, 120, 600, 660]);
});

pure("usageHistory() takes the shorter of two distances that are as frequent", () => {
  const samples = [0, 30, 90].map((atS) => ({ atS, value: 1 }));
  assert.equal(usageHistory(samples, CPU).stepMs, 30_000);
});

pure("usageHistory() leaves bytes as they are", () => {
  const samples = [0, 60].map((atS) => ({ atS, value: 2 ** 30 }));
  const { values } = usageHistory(samples, { name: "f", resource: "memory" });
  assert.deepEqual([...values], [2 ** 30, 2 ** 30]);
});

pure("scaledTo() keeps the shape and sets the 95th percentile", () => {
  const samples = Array.from({ length: 101 }, (_, index) => ({ atS: 60 * index, value: index }));
  const scaled = scaledTo(usageHistory(samples, CPU), 1000);
  assert.ok(Math.abs((scaled.values[95] ?? 0) - 1000) < 1e-9);
  assert.ok(Math.abs((scaled.values[19] ?? 0) - 200) < 1e-9);
});

function prometheus(values: readonly (readonly [number, string])[]): string {
  const result = [{ metric: { pod: "web-0" }, values }];
  return JSON.stringify({ status: "success", data: { resultType: "matrix", result } });
}

pure("readUsage() reads CSV and Prometheus exports, and leaves gaps", () => {
  const csv = readUsage("ts,value\n0,0.5\n60,1\n600,2\n660,2\n", { name: "f", resource: "cpu" });
  assert.deepEqual([...csv.atMs], [0, 60_000, 600_000, 660_000]);
  assert.deepEqual([...csv.values], [500, 1000, 2000, 2000]);
  const range = readUsage(prometheus([[0, "0.25"], [30, "1"], [300, "1"]]), {
    name: "f",
    resource: "cpu",
  });
  assert.deepEqual([range.stepMs, ...range.values], [30_000, 250, 1000, 1000]);
});

pure("readUsage() takes gibibytes for memory, and not for cores", () => {
  const bytes = `0,${8 * 2 ** 30}\n60,${9 * 2 ** 30}\n`;
  const { values, resource } = readUsage(bytes, { name: "f", resource: "memory" });
  assert.deepEqual([resource, ...values], ["memory", 8 * 2 ** 30, 9 * 2 ** 30]);
  assert.throws(
    () => readUsage(bytes, { name: "f", resource: "cpu" }),
    /line 2 is "60,.*timestamp .* 0 to 1e9/,
  );
  const huge = prometheus([[0, "1e16"]]);
  assert.throws(
    () => readUsage(huge, { name: "f", resource: "memory" }),
    /"1e16" at 0, .*bytes .* 0 to 1e15/,
  );
});

Deno.test({
  name: "readUsage() reads production histories of days, a sample per minute without a gap",
  permissions: { read: [new URL("../traces/", import.meta.url)] },
  async fn() {
    for (const [name, days] of [["crane0", 8], ["crane4", 15], ["crane5", 16]] as const) {
      const shipped = await readShippedText(name);
      const history = readUsage(shipped.text, { ...shipped, name, resource: "cpu" });
      assert.equal(history.stepMs, 60_000);
      assert.equal(history.atMs.length, days * 1440);
      assert.equal((history.atMs.at(-1) ?? 0) - (history.atMs[0] ?? 0), (days * 1440 - 1) * 60_000);
    }
  },
});

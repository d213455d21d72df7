import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import type { ResourceName } from "../../../shared/api/pod.ts";
import { type PercentileOptions, percentileRule } from "./percentile_rule.ts";
import type { Proposal, RuleRun } from "./rule.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const MEBIBYTE = 2 ** 20;

function begin(options: Partial<PercentileOptions> = {}): RuleRun {
  return percentileRule("ours", {
    percentile: "P90",
    safetyFactor: 1.2,
    windowMs: DAY_MS,
    minSamples: 1,
    ...options,
  }).begin("cpu");
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
    percentileRule("ours", { percentile: "P95", safetyFactor: 1.2, windowMs: DAY_MS, ...options })
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
    const run = begin();
    run.observe({ atMs: 0, usage: MEBIBYTE });
    run.killed({ atMs: 0, inForce: limit, limit });
    run.observe({ atMs: DAY_MS, usage: MEBIBYTE });
    return run.recommend(atMs)?.value;
  };
  assert.equal(after(200 * MEBIBYTE, DAY_MS - 1), 300 * MEBIBYTE);
  assert.equal(after(1000 * MEBIBYTE, DAY_MS - 1), 1200 * MEBIBYTE);
  assert.equal(after(1000 * MEBIBYTE, DAY_MS), Math.trunc(1.2 * MEBIBYTE));
});

pure(
  "percentileRule() raises the cut-off usage by that share, CPU alone and only if asked",
  () => {
    const after = (
      options: Partial<PercentileOptions>,
      { held, resource = "cpu" }: { readonly held: number; readonly resource?: ResourceName },
    ): number | undefined => {
      const run = percentileRule("ours", {
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
  },
);

import assert from "node:assert/strict";
import fc from "fast-check";
import { percentileOf } from "./estimator.ts";
import { distributionOfSamples } from "./samples.ts";
import { uncensored, withThrottling } from "./throttling.ts";

const WINDOW = { nowMs: 1000, windowMs: 1000 } as const;

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function usageOf(values: readonly number[]): ReturnType<typeof distributionOfSamples> {
  return distributionOfSamples(values.map((value) => ({ atMs: 1000, value })), WINDOW);
}

/** At a limit of 200 m for a fifth of the time. */
const CUT = usageOf([50, 60, 70, 80, 90, 100, 110, 120, 200, 200, 200]);
const p90 = percentileOf({ resource: "cpu", percentile: "P90", windowMs: 86_400_000 });
const p50 = percentileOf({ resource: "cpu", percentile: "P50", windowMs: 86_400_000 });

const values = fc.array(fc.integer({ min: 0, max: 5000 }), { minLength: 1, maxLength: 50 });
const share = fc.nat({ max: 1000 }).map((thousandths) => thousandths / 1000);
const demand = fc.option(fc.integer({ min: 0, max: 20_000 }), { nil: undefined });

pure("uncensored() raises what the limit cut off to the observed demand, and nothing below", () => {
  const seen = uncensored(CUT, { share: 0.2, demand: 700 });
  assert.equal(seen.quantile(0.5), 100);
  assert.equal(seen.quantile(0.7), CUT.quantile(0.7));
  assert.equal(seen.quantile(0.9), 700);
  assert.equal(uncensored(CUT, { share: 0.1, demand: 700 }).quantile(0.9), 700, "just in it");
  assert.equal(seen.max, 700);
  assert.equal(seen.count, CUT.count);
});

pure("uncensored() takes 1 + share times as much where nobody saw the demand", () => {
  const guessed = uncensored(CUT, { share: 0.25 });
  assert.equal(guessed.quantile(0.5), 100);
  assert.equal(guessed.quantile(0.9), 250);
  assert.equal(uncensored(CUT, { share: 1 }).quantile(0.9), 400);
});

pure("uncensored() never lowers, and does nothing where nothing was throttled", () => {
  assert.equal(uncensored(CUT, { share: 0, demand: 9000 }), CUT);
  assert.equal(uncensored(CUT, { share: 0.5, demand: 10 }).quantile(0.9), 200);
});

pure(
  "property 13: uncensored() has P50 ≤ P90 ≤ P99 within min and max, none below what was",
  () => {
    fc.assert(
      fc.property(values, share, demand, (drawn, throttled, wanted) => {
        const usage = usageOf(drawn);
        const throttling = {
          share: throttled,
          ...(wanted === undefined ? {} : { demand: wanted }),
        };
        const raised = uncensored(usage, throttling);
        const fractions = [0.5, 0.9, 0.95, 0.99];
        const ranks = fractions.map((fraction) => raised.quantile(fraction));
        const ordered = [raised.min, ...ranks, raised.max];
        assert.deepEqual(ordered, ordered.toSorted((a, b) => a - b));
        for (const [index, fraction] of fractions.entries()) {
          const before = usage.quantile(fraction);
          assert.ok(ranks[index]! >= before);
          if (fraction < 1 - throttled) assert.equal(ranks[index], before);
          assert.ok(ranks[index]! <= Math.max(2 * before, wanted ?? 0));
        }
      }),
    );
  },
);

pure("withThrottling() tells what it raised, and by whose word", () => {
  const { amount, told: [percentile, raised = "", ...more] } = withThrottling(p90, {
    share: 0.2,
    demand: 700,
  })(CUT);
  assert.deepEqual([amount, percentile, more], [700, ...p90(CUT).told, []]);
  assert.match(raised, / 700m .*20 % .*market/);
  const guessed = withThrottling(p90, { share: 0.25 })(CUT);
  assert.match(guessed.told[1] ?? "", / 250m .*25 % .*unknown/);
});

pure("withThrottling() says nothing where the percentile lies below what was cut off", () => {
  assert.deepEqual(withThrottling(p50, { share: 0.2, demand: 700 })(CUT), p50(CUT));
  assert.deepEqual(withThrottling(p90, { share: 0.05, demand: 700 })(CUT), p90(CUT));
});

pure("uncensored() refuses shares and demands that cannot be, naming them", () => {
  for (const wrong of [-0.1, 1.1, NaN]) {
    assert.throws(() => uncensored(CUT, { share: wrong }), {
      name: "RangeError",
      message: new RegExp(`: share is ${wrong},`),
    });
  }
  for (const wrong of [-1, NaN, Infinity]) {
    assert.throws(() => uncensored(CUT, { share: 0.5, demand: wrong }), {
      name: "RangeError",
      message: new RegExp(`: demand is ${wrong},`),
    });
  }
});

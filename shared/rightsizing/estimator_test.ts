import fc from "fast-check";
import assert from "node:assert/strict";
import { distributionOfSamples } from "./distribution.ts";
import {
  bytesBeforeOOM,
  type Estimator,
  percentileOf,
  raisedAfterOOM,
  uncensored,
  withBounds,
  withOOMRaise,
  withSafetyFactor,
  withThrottling,
} from "./estimator.ts";
import type { Percentile } from "./policy_spec.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const USAGE = distributionOfSamples(
  [100, 200, 300].map((value) => ({ atMs: 1000, value })),
  { nowMs: 1000, windowMs: 1000 },
);

function percentile(which: Percentile, windowMs = DAY_MS): ReturnType<typeof percentileOf> {
  return percentileOf({ resource: "cpu", percentile: which, windowMs });
}

pure("percentileOf() takes the policy's percentile, and names samples and window", () => {
  const amounts = (["P50", "P90", "P95", "P99"] as const).map((one) =>
    percentile(one)(USAGE).amount
  );
  assert.deepEqual(amounts, [200, 280, 290, 298]);
  assert.deepEqual(percentile("P90")(USAGE).steps, ["P90 of 3 samples in 24h is 280m"]);
});

pure("percentileOf() formats windows as policies write them", () => {
  const steps = (windowMs: number) => percentile("P50", windowMs)(USAGE).steps[0];
  assert.equal(steps(7 * DAY_MS), "P50 of 3 samples in 7d is 200m");
  assert.equal(steps(36 * HOUR_MS), "P50 of 3 samples in 36h is 200m");
  assert.equal(steps(HOUR_MS / 2), "P50 of 3 samples in 30m is 200m");
});

pure("withSafetyFactor() multiplies what it wraps, truncates it and says so", () => {
  const estimate = withSafetyFactor(percentile("P90"), { resource: "cpu", factor: 1.25 })(USAGE);
  assert.equal(estimate.amount, 350);
  assert.deepEqual(estimate.steps, ["P90 of 3 samples in 24h is 280m", "times 1.25 is 350m"]);
  const odd = withSafetyFactor(percentile("P99"), { resource: "cpu", factor: 1.001 })(USAGE);
  assert.equal(odd.amount, 298, "of 298.298");
});

pure("withBounds() moves what is outside to the nearer bound, and nothing that is inside", () => {
  const bounded = (min: number, max: number) =>
    withBounds(percentile("P50"), { resource: "cpu", bounds: { min, max } })(USAGE);
  const cases = [
    [bounded(100, 1000), 200, /^within .*100m to 1$/],
    [bounded(200, 200), 200, /^within .*200m to 200m$/],
    [bounded(201, 1000), 201, /^raised .*minimum .*201m to 1$/],
    [bounded(10, 199), 199, /^lowered .*maximum .*10m to 199m$/],
  ] as const;
  for (const [{ amount, steps }, expected, phrase] of cases) {
    assert.equal(amount, expected);
    assert.match(steps.at(-1) ?? "", phrase);
    assert.equal(steps.length, 2);
  }
});

const WINDOW = { nowMs: 1000, windowMs: 1000 } as const;

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

pure("uncensored() takes 1 + share times as much where demand was not observed", () => {
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

pure("withThrottling() reports what it raised, and by which source", () => {
  const { amount, steps: [percentile, raised = "", ...more] } = withThrottling(p90, {
    share: 0.2,
    demand: 700,
  })(CUT);
  assert.deepEqual([amount, percentile, more], [700, ...p90(CUT).steps, []]);
  assert.match(raised, / 700m .*20 % .*market/);
  const guessed = withThrottling(p90, { share: 0.25 })(CUT);
  assert.match(guessed.steps[1] ?? "", / 250m .*25 % .*unknown/);
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

const MEBI = 2 ** 20;
const NO_USAGE = distributionOfSamples([], { nowMs: 1, windowMs: 1 });

function fixed(amount: number): Estimator {
  return () => ({ amount, steps: ["used"] });
}

pure("raisedAfterOOM() is 100Mi more below 500Mi, and a fifth more above", () => {
  assert.equal(raisedAfterOOM({ hadBytes: 256 * MEBI }), 356 * MEBI);
  assert.equal(raisedAfterOOM({ hadBytes: 500 * MEBI }), 600 * MEBI);
  assert.equal(raisedAfterOOM({ hadBytes: 1000 * MEBI }), 1200 * MEBI);
});

pure("bytesBeforeOOM() is what was raised, a byte less at most", () => {
  assert.equal(bytesBeforeOOM(356 * MEBI), 256 * MEBI);
  fc.assert(fc.property(fc.nat({ max: 2 ** 45 }), (hadBytes) => {
    const before = bytesBeforeOOM(raisedAfterOOM({ hadBytes }));
    assert.ok(before === hadBytes || before === hadBytes - 1, `${before}`);
  }));
  assert.ok(bytesBeforeOOM(64 * MEBI) < 0);
});

pure("raisedAfterOOM() is the larger of both raises, in whole bytes", () => {
  fc.assert(fc.property(fc.nat({ max: 2 ** 45 }), (hadBytes) => {
    const raise = raisedAfterOOM({ hadBytes }) - hadBytes;
    assert.ok(Number.isInteger(raise));
    assert.ok(raise >= 100 * MEBI && raise >= hadBytes / 5 - 1);
    assert.ok(raise === 100 * MEBI || raise <= hadBytes / 5);
  }));
});

pure("withOOMRaise() raises by the worst kill, and reports it", () => {
  const kills = [{ hadBytes: 200 * MEBI }, { hadBytes: 256 * MEBI }, { hadBytes: 100 * MEBI }];
  const { amount, steps: [used, raised = "", ...more] } = withOOMRaise(fixed(300 * MEBI), kills)(
    NO_USAGE,
  );
  assert.deepEqual([amount, used, more], [356 * MEBI, "used", []]);
  assert.match(raised, /256Mi.* 356Mi/);
});

pure("withOOMRaise() takes the largest sample for what a container without a limit had", () => {
  const samples = [100, 400, 200].map((mebi, index) => ({ atMs: index, value: mebi * MEBI }));
  const usage = distributionOfSamples(samples, { nowMs: 3, windowMs: 10 });
  const raised = (hadBytes: number, of = usage): number =>
    withOOMRaise(fixed(MEBI), [{ hadBytes, unlimited: true }])(of).amount;
  assert.equal(raised(64 * MEBI), 500 * MEBI);
  assert.equal(raised(500 * MEBI), 600 * MEBI, "its request was more");
  assert.equal(raised(0, NO_USAGE), MEBI, "of nothing there is nothing to raise");
  // A limit says exactly what it had.
  assert.equal(withOOMRaise(fixed(MEBI), [{ hadBytes: 64 * MEBI }])(usage).amount, 164 * MEBI);
});

pure("withOOMRaise() leaves alone what is as much already, and what was not killed", () => {
  const enough = { amount: 356 * MEBI, steps: ["used"] };
  assert.deepEqual(
    withOOMRaise(fixed(356 * MEBI), [{ hadBytes: 256 * MEBI }])(NO_USAGE),
    enough,
  );
  assert.deepEqual(withOOMRaise(fixed(356 * MEBI), [])(NO_USAGE), enough);
});

pure(
  "withOOMRaise() ends kills that repeat: each time there is more than what was too little",
  () => {
    let hadBytes = 10 * MEBI;
    const needed = 3000 * MEBI;
    let kills = 0;
    while (hadBytes < needed && kills < 100) {
      hadBytes = withOOMRaise(fixed(hadBytes), [{ hadBytes }])(NO_USAGE).amount;
      kills++;
    }
    // Five of 100Mi to 510Mi, then ten of a fifth: 510 × 1.2^10 = 3158.
    assert.equal(kills, 15);
  },
);

import assert from "node:assert/strict";
import { type ComparedAlgorithm, comparisonTable, deviation } from "./comparison.ts";
import type { Figures } from "./figures.ts";

const FIGURES: Figures = {
  reactionMsMedian: 500,
  reactionMsP95: 900,
  bursts: 34,
  burstsMet: 4,
  burstsMissed: 2,
  throttledMsPerS: 100,
  changesPerPodMinute: 1.5,
  p50Ms: 8,
  p99Ms: 400,
  completed: 60_000,
  coresAllocated: 1.5,
  coresUsed: 0.56,
};

const ACCOUNTS = { podLevel: 60, containerLevel: 45.5, standing: 130 };

Deno.test("deviation() is a share of the real figure, and absent where one is", () => {
  const algorithm: ComparedAlgorithm = {
    algorithm: "ours",
    real: FIGURES,
    model: { ...FIGURES, throttledMsPerS: 85 },
    othersCores: 0.3,
    accounts: ACCOUNTS,
  };
  assert.ok(Math.abs((deviation(algorithm, "throttledMsPerS") ?? NaN) + 0.15) < 1e-12);
  assert.equal(deviation(algorithm, "reactionMsMedian"), 0);
  assert.equal(
    deviation(
      { algorithm: "hpa", real: FIGURES, othersCores: 0.3, accounts: ACCOUNTS },
      "throttledMsPerS",
    ),
    undefined,
  );
  const { reactionMsMedian: _, ...without } = FIGURES;
  assert.equal(deviation({ ...algorithm, real: without }, "reactionMsMedian"), undefined);
  const none = { ...FIGURES, throttledMsPerS: 0 };
  assert.equal(deviation({ ...algorithm, real: none, model: none }, "throttledMsPerS"), 0);
  assert.equal(deviation({ ...algorithm, real: none }, "throttledMsPerS"), Infinity);
});

Deno.test("comparisonTable() has the model below the real figures, then how far it is off and the disturbed runs", () => {
  const model = { ...FIGURES, throttledMsPerS: 70 };
  const lines = comparisonTable([
    { algorithm: "static", real: FIGURES, model, othersCores: 0.3, accounts: ACCOUNTS },
    { algorithm: "hpa", real: FIGURES, othersCores: 1.25, accounts: ACCOUNTS },
  ]).split("\n");
  assert.match(lines[1] ?? "", /^static +real +500 +900 +4\/2\/34 +100\.0 +1\.50 +8 +400 +1\.50/);
  assert.match(lines[2] ?? "", /^ +model +500 +900 +4\/2\/34 +70\.0/);
  assert.match(lines[3] ?? "", /^hpa +real/);
  assert.match(lines[5] ?? "", /^static: .* 60\.0 ms\/s .*pods.* 45\.5 .*containers.* 130\.0/);
  const [throttled = "", reaction = "", disturbed = "", ...others] = lines.slice(8);
  assert.match(throttled, /^static: .*throttled time .* -30 %, outside 20 %$/);
  assert.match(reaction, /^static: .*median reaction .* \+0 %, within 20 %$/);
  assert.match(disturbed, /^hpa: .* 1\.25 CPUs/);
  assert.deepEqual(others, []);
});

import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { outcome, scores } from "../../tests/fixtures/lab/arena_outcomes.ts";
import { algorithmOutcome, bestPerAlgorithm, bestSetting } from "./outcome.ts";

pure("algorithmOutcome() takes medians and spread over the seeds", () => {
  const runs = [
    scores({ p99Ms: 90, coresAllocated: 3 }),
    scores({ p99Ms: 120, coresAllocated: 1, reactionMsMedian: 500 }),
    scores({ p99Ms: 100, coresAllocated: 2, reactionMsMedian: 700 }),
  ];
  const made = algorithmOutcome({ algorithm: "a", setting: "x" }, { runs, sloMs: 100 });
  assert.equal(made.median.coresAllocated, 2);
  assert.equal(made.least.coresAllocated, 1);
  assert.equal(made.most.coresAllocated, 3);
  assert.equal(made.sloHeld, true);
  assert.equal(made.sloHeldShare, 2 / 3);
  // Of the seeds that have it.
  assert.equal(made.median.reactionMsMedian, 600);
  assert.equal(made.median.convergeS, undefined);
});

pure("algorithmOutcome() holds the SLO where more than half of the seeds do", () => {
  const held = (...p99s: number[]) =>
    algorithmOutcome({ algorithm: "a", setting: "x" }, {
      runs: p99s.map((p99Ms) => scores({ p99Ms })),
      sloMs: 100,
    }).sloHeld;
  assert.equal(held(50, 110), false);
  assert.equal(held(50, 100), true);
  assert.equal(held(50, 100, 9000), true);
});

pure("bestSetting() is the cheapest of those that hold the SLO, else the quickest", () => {
  const cheap = outcome({ setting: "cheap", sloHeld: false, cores: 1, p99Ms: 300 });
  const good = outcome({ setting: "good", cores: 2, p99Ms: 90 });
  const dear = outcome({ setting: "dear", cores: 3, p99Ms: 50 });
  assert.equal(bestSetting([cheap, dear, good])?.setting, "good");
  const slow = outcome({ setting: "slow", sloHeld: false, cores: 0.5, p99Ms: 400 });
  assert.equal(bestSetting([slow, cheap])?.setting, "cheap");
  assert.equal(bestSetting([]), undefined);
});

pure("bestPerAlgorithm() keeps the order of the algorithms", () => {
  const best = bestPerAlgorithm([
    outcome({ algorithm: "b", setting: "1", cores: 2 }),
    outcome({ algorithm: "a", setting: "1", cores: 1 }),
    outcome({ algorithm: "b", setting: "2", cores: 1 }),
  ]);
  assert.deepEqual(best.map(({ algorithm, setting }) => algorithm + setting), ["b2", "a1"]);
});

import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { syntheticRuns } from "../../../tests/fixtures/lab/run_records.ts";
import type { RunRecord, RunScores } from "../run_record.ts";
import { describeScale, isBest, SCORE_MEASURES, type ScoreMeasure } from "./score_measures.ts";

function runs(...scores: Partial<RunScores>[]): RunRecord[] {
  const [made] = syntheticRuns({ pods: 1, minutes: 1 });
  assert(made !== undefined);
  return scores.map((score) => ({ ...made, scores: { ...made.scores, ...score } }));
}

function measure(name: string): ScoreMeasure {
  const found = SCORE_MEASURES.find((one) => one.name.startsWith(name));
  assert(found !== undefined);
  return found;
}

function best(name: string, all: readonly RunRecord[]): boolean[] {
  return all.map((run) => isBest(measure(name), run, { runs: all }));
}

pure("isBest() goes to the lowest cost, to all that read the same, and to none if all do", () => {
  const three = runs(
    { throttledMsPerS: 10.01 },
    { throttledMsPerS: 10.02 },
    { throttledMsPerS: 11 },
  );
  assert.deepEqual(best("Throttled", three), [true, true, false]);
  const equal = runs({ throttledMsPerS: 10.01 }, { throttledMsPerS: 10.02 });
  assert.deepEqual(best("Throttled", equal), [false, false]);
  assert.deepEqual(best("CPU used", runs({ coresUsed: 1 }, { coresUsed: 2 })), [false, false]);
  assert.deepEqual(best("Jain", runs({ jain: 0.8 }, { jain: 0.9 })), [false, true]);
});

pure("SCORE_MEASURES distinguish a run without bursts from one that never caught up", () => {
  const [made] = syntheticRuns({ pods: 1, minutes: 1, bursts: false });
  assert(made !== undefined);
  assert.equal(measure("Reaction").text(made), "not needed");
  const missed = { ...made, scores: { ...made.scores, bursts: 3, burstsMissed: 3 } };
  assert.equal(measure("Reaction").text(missed), "–");
  assert.equal(measure("Bursts missed").text(missed), "3 of 3");
});

pure("describeScale() keeps round numbers of cores round", () => {
  const [made] = syntheticRuns({ pods: 1, minutes: 1 });
  assert(made !== undefined);
  assert.equal(describeScale(made), "1 minute, 1 pod on 8 cores, seed 1");
  assert.match(describeScale({ ...made, nodeCPU: 100_000 }), /on 100 cores/);
});

import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { syntheticRuns } from "../../../tests/fixtures/lab/run_records.ts";
import type { RunRecord, RunScores } from "../run_record.ts";
import { keyFigures } from "./headline.ts";

const MADE = syntheticRuns({ pods: 2, minutes: 1 });

function runs(...scores: Partial<RunScores>[]): RunRecord[] {
  return scores.map((score, index): RunRecord => {
    const run = MADE[index];
    assert(run !== undefined);
    return { ...run, scores: { ...run.scores, coresAllocated: 4, ...score } };
  });
}

pure("keyFigures() states the record's own figures", () => {
  const figures = keyFigures(runs(
    { throttledMsPerS: 12.34, p99Ms: 76.5, reactionMsMedian: 412, bursts: 1, burstsMissed: 0 },
    { throttledMsPerS: 361.4, p99Ms: 207 },
  ));
  assert.deepEqual(figures.map(({ value }) => value), ["12.3 ms/s", "76.5 ms", "4.00", "412 ms"]);
  const beside = ["361 ms/s", "207 ms", "4.00 cores"].map((value) =>
    `${value} with ${MADE[1]?.algorithm}`
  );
  assert.deepEqual(figures.map((figure) => figure.beside), [...beside, "1 burst, 0 missed"]);
});

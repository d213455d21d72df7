import assert from "node:assert/strict";
import { pure } from "../../../tests/fixtures/pure.ts";
import { syntheticRuns } from "../../../tests/fixtures/lab/run_records.ts";
import type { RunRecord } from "../run_record.ts";
import { tallyPods, tallySentence, tallyText } from "./pod_rows.ts";

/** A run per list, a pod per figure; all runs cost the same. */
function runs(...throttled: readonly number[][]): RunRecord[] {
  const [made] = syntheticRuns({ pods: 1, minutes: 1 });
  const pod = made?.pods[0];
  assert(made !== undefined && pod !== undefined);
  return throttled.map((figures, index): RunRecord => ({
    ...made,
    algorithm: index === 0 ? "market" : "limits at equal sum",
    pods: figures.map((throttledMsPerS, at) => ({ ...pod, name: `pod-${at}`, throttledMsPerS })),
  }));
}

pure("tallySentence() is absent where there is nothing to compare with", () => {
  assert.equal(tallySentence([]), undefined);
  assert.equal(tallySentence(runs([1])), undefined);
  assert.equal(tallySentence(runs([], [])), undefined);
});

pure("tallyPods() joins by name and leaves out pods that the other run lacks", () => {
  const [ours, theirs] = runs([1, 5, 3], [2, 4]);
  assert(ours !== undefined && theirs !== undefined);
  const turned = { ...theirs, pods: theirs.pods.toReversed() };
  assert.deepEqual(tallyPods(ours, turned), { less: 1, more: 1, same: 0 });
  assert.equal(tallyText({ less: 11, more: 9, same: 0 }), "11 / 9");
  assert.equal(tallyText({ less: 11, more: 6, same: 3 }), "11 / 6, 3 as much");
});

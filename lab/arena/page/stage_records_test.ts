import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { outcome, stageResult } from "../../../tests/fixtures/lab/arena_outcomes.ts";
import { syntheticRuns } from "../../../tests/fixtures/lab/run_records.ts";
import { ORACLE, OURS, OURS_TIGHT } from "../outcome.ts";
import { stageRecords } from "./stage_records.ts";

pure("stageRecords() takes ours, the best rival and the oracle, whatever their order", () => {
  const [run] = syntheticRuns({ pods: 1, minutes: 1 });
  assert(run !== undefined);
  const best = outcome({ algorithm: "captain", setting: "target 0.1", cores: 1 });
  const other = outcome({ algorithm: "hpa", setting: "target 0.5", cores: 3 });
  const outcomes = [ORACLE, OURS_TIGHT, OURS].map((entry) => outcome(entry));
  const records = [other, ...outcomes, best].map(({ algorithm, setting }) => ({
    ...run,
    algorithm,
    description: setting,
  }));
  const result = stageResult([other, best, ...outcomes], { records });
  assert.deepEqual(stageRecords(result).map(({ algorithm }) => algorithm), [
    "ours",
    "ours-tight",
    "captain, target 0.1",
    "oracle",
  ]);
  assert.deepEqual(stageRecords({ ...result, records: [] }), []);
});

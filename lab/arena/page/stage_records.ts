/**
 * Which runs of a stage are drawn over time.
 *
 * @module
 */
import type { RunRecord } from "../../simulation/run_record.ts";
import { bestSetting, type Entry, isRival, ORACLE, OURS, OURS_TIGHT } from "../outcome.ts";
import type { StageResult } from "../stages.ts";
import { entryName } from "./algorithm_look.ts";

/**
 * Ours, also where limits follow demand, the best rival and the oracle, as far as there are series,
 * named as in the tables.
 */
export function stageRecords({ outcomes, records }: StageResult): RunRecord[] {
  const rival: Entry | undefined = bestSetting(outcomes.filter(isRival));
  return [OURS, OURS_TIGHT, ...(rival === undefined ? [] : [rival]), ORACLE].flatMap((entry) => {
    // A record holds the setting where a report has a description.
    const record = records.find(({ algorithm, description }) =>
      algorithm === entry.algorithm && description === entry.setting
    );
    return record === undefined ? [] : [{ ...record, algorithm: entryName(entry) }];
  });
}

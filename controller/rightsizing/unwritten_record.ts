/**
 * What a policy has to tell where what its cycles come to can't be put on record.
 *
 * @module
 */
import type { PolicyProblem } from "../../shared/rightsizing/build_policy_status.ts";
import type { CycleOutcome } from "./policy_cycle.ts";
import type { RecordBook } from "./record_book.ts";

/** The problem in the first of the policy's namespaces that has it; undefined where none has. */
export function unwrittenRecord(
  { matched }: Pick<CycleOutcome, "matched">,
  book: Pick<RecordBook, "unwritten">,
): PolicyProblem | undefined {
  const namespaces = new Set(matched.map(({ record }) => record.workload.namespace));
  for (const namespace of namespaces) {
    const why = book.unwritten(namespace);
    if (why === undefined) continue;
    const message = `reports can't be written in namespace ${namespace}: ${why}`;
    return { reason: "RecordNotWritten", message };
  }
  return undefined;
}

/**
 * What two controllers know of the workloads of a namespace, brought together: one that ends, and the
 * next one.
 *
 * @module
 */
import type { WorkloadRecord } from "./workload_record.ts";

/** Records of one namespace. */
export interface RecordVersions {
  /** What this controller has learnt. */
  readonly own: readonly WorkloadRecord[];
  /** What somebody else has written. */
  readonly found: readonly WorkloadRecord[];
  /** What was written when this controller last read or wrote. */
  readonly known: readonly WorkloadRecord[];
}

/** What is to be on record. */
export interface MergedRecords {
  readonly records: readonly WorkloadRecord[];
  /** Workloads of which the other one's record is kept, in place of one's own or of none. */
  readonly taken: readonly WorkloadRecord[];
  /** Whether this controller has applied something that the other one does not know. */
  readonly hasNews: boolean;
}

/**
 * Of a workload to which one of them has applied something since, the later application counts: that is
 * what pods have, or are about to get. All else the one that leads knows better, and which workloads
 * there are.
 */
export function mergeRecords(
  { own, found, known }: RecordVersions,
  { leads }: { readonly leads: boolean },
): MergedRecords {
  const [mine, theirs, before] = [byWorkload(own), byWorkload(found), byWorkload(known)];
  const records: WorkloadRecord[] = [];
  const taken: WorkloadRecord[] = [];
  let hasNews = false;
  for (const key of new Set([...mine.keys(), ...theirs.keys()])) {
    const [my, their, old] = [mine.get(key), theirs.get(key), before.get(key)];
    const isMine = appliedAt(my) > Math.max(appliedAt(their), appliedAt(old));
    const isTheirs = appliedAt(their) > Math.max(appliedAt(my), appliedAt(old));
    // What this one has dropped, and nobody has applied anything to since, does not come back.
    const leading = my ?? (old === undefined ? their : undefined);
    const kept = isMine ? my : isTheirs || !leads ? their : leading;
    if (isMine) hasNews = true;
    if (kept === undefined) continue;
    records.push(kept);
    if (kept === their) taken.push(kept);
  }
  return { records, taken, hasNews };
}

/** When values were last applied, ms since 1970; before all time where they never were. */
export function appliedAt(record: WorkloadRecord | undefined): number {
  return record?.appliedAtMs ?? -Infinity;
}

function byWorkload(records: readonly WorkloadRecord[]): ReadonlyMap<string, WorkloadRecord> {
  return new Map(
    records.map((one) => [`${one.workload.kind}/${one.workload.name}`, one] as const),
  );
}

/**
 * How records of the workloads of a namespace are spread over `RecommendationReport`s, and merged where two
 * controllers have written them.
 *
 * @module
 */
import * as z from "zod";
import type { ReportedWorkload } from "../api/recommendation_report.ts";
import { reportedWorkloadOf, type WorkloadRecord, workloadRecordOf } from "./workload_record.ts";

/**
 * Bytes of JSON that the workloads of one object may have: half a megabyte, some 300 workloads of two
 * containers. A server stores 1.5 MB at most (etcd's request limit), of which metadata take some KB.
 */
const MOST_BYTES = 512 * 1024;

/** The part of a report that its writer decides. */
export interface ReportPart {
  /** `recommendations-1` and so on. */
  readonly name: string;
  readonly workloads: readonly ReportedWorkload[];
}

const encoder = new TextEncoder();

/** Spreads the records of a namespace over reports: by kind and name, as many in an object as fit. */
export function reportParts(records: readonly WorkloadRecord[]): readonly ReportPart[] {
  const parts: ReportedWorkload[][] = [];
  let bytes = Infinity;
  const sorted = records.toSorted((a, b) => keyOf(a) < keyOf(b) ? -1 : 1);
  for (const entry of sorted.map(reportedWorkloadOf)) {
    const size = bytesOf(entry);
    if (bytes + size > MOST_BYTES) {
      parts.push([]);
      bytes = 0;
    }
    parts.at(-1)?.push(entry);
    bytes += size;
  }
  return parts.map((workloads, index) => ({ name: `recommendations-${index + 1}`, workloads }));
}

/**
 * The order in which to write the parts: a workload that moves is written to its new report before it is removed
 * from its `stored` one, so that a crash between two writes loses none. `stored`: by name.
 */
export function writeOrder(
  parts: readonly ReportPart[],
  stored: ReadonlyMap<string, Pick<ReportPart, "workloads">>,
): readonly ReportPart[] {
  const keysOf = ({ workloads }: Pick<ReportPart, "workloads">) => workloads.map(entryKey);
  const partOf = new Map(parts.flatMap((part) => keysOf(part).map((key) => [key, part] as const)));
  const storedKeys = new Map(
    parts.map((part) => [part, new Set(keysOf(stored.get(part.name) ?? { workloads: [] }))]),
  );
  const visited = new Set<ReportPart>();
  const order: ReportPart[] = [];
  const visit = (part: ReportPart): void => {
    if (visited.has(part)) return;
    visited.add(part);
    for (const key of storedKeys.get(part) ?? []) {
      const next = partOf.get(key);
      if (next !== undefined && !storedKeys.get(next)?.has(key)) visit(next);
    }
    order.push(part);
  };
  parts.forEach(visit);
  return order;
}

/** True for a name that `reportParts` gives: other objects of the kind belong to other clients. */
export function isReportName(name: string): boolean {
  return /^recommendations-[1-9]\d*$/.test(name);
}

/**
 * The records in the reports of a namespace, one for each workload. Leaves out entries that can't be read, as if
 * nothing was adopted for their workloads.
 */
export function recordsOf(
  reports: readonly Pick<ReportPart, "workloads">[],
  namespace: string,
): readonly WorkloadRecord[] {
  const records = reports.flatMap(({ workloads }) => workloads)
    .flatMap((reported) => recordOrNothing(reported, namespace) ?? []);
  return Array.from(Map.groupBy(records, keyOf).values(), (same) => same.reduce(lastApplied));
}

/** A crash between two writes may leave a workload in two reports: the record with the last application counts. */
export function lastApplied(one: WorkloadRecord, other: WorkloadRecord): WorkloadRecord {
  return appliedAt(one) > appliedAt(other) ? one : other;
}

function recordOrNothing(
  reported: ReportedWorkload,
  namespace: string,
): WorkloadRecord | undefined {
  try {
    return workloadRecordOf(reported, namespace);
  } catch (error) {
    // The server checks no quantities, and may have the schema of another version.
    if (!(error instanceof SyntaxError || error instanceof z.ZodError)) throw error;
    return undefined;
  }
}

function bytesOf(value: unknown): number {
  return encoder.encode(JSON.stringify(value)).length + 1;
}

/** Records of one namespace. */
export interface RecordVersions {
  /** Records of this controller. */
  readonly ours: readonly WorkloadRecord[];
  /** Records that another controller has written. */
  readonly theirs: readonly WorkloadRecord[];
  /** Records as this controller last read or wrote them. */
  readonly base: readonly WorkloadRecord[];
}

/** The records to write. */
export interface MergedRecords {
  readonly records: readonly WorkloadRecord[];
  /** Records of the other controller among them. */
  readonly taken: readonly WorkloadRecord[];
  /** True if this controller has applied values that the other's records lack. */
  readonly isAhead: boolean;
}

/**
 * Merges the records of two controllers. Where one of them has applied values since `base`, the record with the
 * later application counts: pods have its values, or are about to get them. Otherwise the leader's records
 * count, and its list of workloads.
 */
export function mergeRecords(
  { ours, theirs, base }: RecordVersions,
  { leads }: { readonly leads: boolean },
): MergedRecords {
  const byKey = (all: readonly WorkloadRecord[]) => new Map(all.map((one) => [keyOf(one), one]));
  const [ourByKey, theirByKey, baseByKey] = [byKey(ours), byKey(theirs), byKey(base)];
  const records: WorkloadRecord[] = [];
  const taken: WorkloadRecord[] = [];
  let isAhead = false;
  for (const key of new Set([...ourByKey.keys(), ...theirByKey.keys()])) {
    const [our, their, old] = [ourByKey.get(key), theirByKey.get(key), baseByKey.get(key)];
    const isOurs = appliedAt(our) > Math.max(appliedAt(their), appliedAt(old));
    const isTheirs = appliedAt(their) > Math.max(appliedAt(our), appliedAt(old));
    // A record that this controller has deleted does not come back, unless values were applied since.
    const leading = our ?? (old === undefined ? their : undefined);
    const merged = isOurs ? our : isTheirs || !leads ? their : leading;
    if (isOurs) isAhead = true;
    if (merged === undefined) continue;
    records.push(merged);
    if (merged === their) taken.push(merged);
  }
  return { records, taken, isAhead };
}

/** When values were last applied, ms since 1970; −Infinity: never. */
export function appliedAt(record: WorkloadRecord | undefined): number {
  return record?.appliedAtMs ?? -Infinity;
}

function keyOf({ workload }: WorkloadRecord): string {
  return entryKey(workload);
}

function entryKey({ kind, name }: Pick<ReportedWorkload, "kind" | "name">): string {
  return `${kind}/${name}`;
}

/**
 * What is known of each workload after its last look: in memory, and in the reports of its namespace, so
 * that nothing is forgotten when the process ends.
 *
 * @module
 */
import { ApiError } from "../../shared/api/api_error.ts";
import type { RecommendationReport } from "../../shared/api/recommendation_report.ts";
import type { Clock } from "../../shared/clock.ts";
import type { Log } from "../../shared/log.ts";
import { workloadKey } from "../../shared/rightsizing/policy_choice.ts";
import { appliedAt, mergeRecords } from "../../shared/rightsizing/merge_records.ts";
import { isReportName, recordsOf, reportParts } from "../../shared/rightsizing/report_parts.ts";
import type { WorkloadRecord } from "../../shared/rightsizing/workload_record.ts";
import type { NewReport, ReportStore } from "./policy_ports.ts";

/** Names a workload. */
export type WorkloadName = WorkloadRecord["workload"];

/** The records. */
export interface RecordBook {
  get(workload: WorkloadName): WorkloadRecord | undefined;
  /** Of all workloads of a namespace. */
  namespaces(): Iterable<string>;
  /** Replaces what is known of the workload, unless somebody else has applied something later. */
  set(record: WorkloadRecord): void;
  /** Forgets all records but those that are to be kept. */
  keepOnly(keep: (record: WorkloadRecord) => boolean): void;
  /**
   * Writes the reports of namespaces in which something has changed. What can't be written stays for the
   * next time. One flush follows the other: of two writes of a report on their way at the same time the
   * older could arrive last.
   */
  flush(): Promise<void>;
  /**
   * Writes those in which something was applied since the last time: a crash must not lose it, nor new
   * pods come without it, until the end of a long cycle. What can't be written waits for `flush`.
   */
  flushApplied(): Promise<void>;
  /** What the server says, where the reports of a namespace could not be written for a while. */
  unwritten(namespace: string): string | undefined;
}

/** What the book is made with. */
export interface RecordBookParts {
  /** As the server has them at the beginning. */
  readonly reports: Iterable<RecommendationReport>;
  readonly store: ReportStore;
  readonly clock: Pick<Clock, "monotonic">;
  readonly log: Log;
  /**
   * Aborted when the process leads no more: from then on what somebody else has written counts, but for
   * what was applied later. @default never
   */
  readonly signal?: AbortSignal;
}

/** Failures of which more than the log hears, ms: what is over by then was a matter of a moment. */
const TOLD_AFTER_MS = 60_000;

/** A book with what the reports tell. */
// deno-lint-ignore house/function-length
export function createRecordBook(
  { reports, store, clock, log, signal }: RecordBookParts,
): RecordBook {
  const books = new Map<string, Map<string, WorkloadRecord>>();
  /** Reports that there are, by name, in each namespace. */
  const stored = new Map<string, Map<string, RecommendationReport>>();
  const changed = new Set<string>();
  /** Of those, where something was applied. */
  const applied = new Set<string>();
  /** Since when, by the monotonic clock. */
  const failing = new Map<string, { readonly sinceMs: number; readonly message: string }>();
  /** Records of somebody else, by namespace and key, until a look that has begun with them. */
  const taken = new Map<string, Map<string, WorkloadRecord>>();
  let fails = false;
  let last: Promise<unknown> = Promise.resolve();

  for (const report of reports) {
    const { namespace, name } = report.metadata;
    if (isReportName(name)) within(stored, namespace).set(name, report);
  }
  for (const [namespace, ones] of stored) {
    for (const record of recordsOf([...ones.values()], namespace)) {
      within(books, namespace).set(keyOf(record.workload), record);
    }
  }

  async function write(namespace: string): Promise<void> {
    const parts = reportParts([...within(books, namespace).values()]);
    const there = within(stored, namespace);
    for (const part of parts) there.set(part.name, await apply({ ...part, namespace }));
    const wanted = new Set(parts.map(({ name }) => name));
    for (const [name, report] of [...there]) {
      if (wanted.has(name)) continue;
      try {
        await store.remove(report);
      } catch (error) {
        if (!(error instanceof ApiError && error.status === 404)) throw error;
      }
      there.delete(name);
    }
    forgetEmpty(namespace);
  }

  /** Over the version that is known, and none where none is: nothing is overwritten that was not read. */
  function apply(report: NewReport): Promise<RecommendationReport> {
    const version = within(stored, report.namespace).get(report.name)?.metadata.resourceVersion;
    return store.apply(version === undefined ? report : { ...report, resourceVersion: version });
  }

  /** Where somebody else has written, once more over what both know. */
  async function writeOver(namespace: string): Promise<void> {
    try {
      await write(namespace);
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 409)) throw error;
      if (await readAgain(namespace)) await write(namespace);
    }
  }

  /** Takes over what somebody else knows; false where there is nothing to write beside it. */
  async function readAgain(namespace: string): Promise<boolean> {
    const now = (await store.list(namespace)).filter(({ metadata }) => isReportName(metadata.name));
    const there = within(stored, namespace);
    const records = within(books, namespace);
    const leads = signal?.aborted !== true;
    const merged = mergeRecords({
      own: [...records.values()],
      found: recordsOf(now, namespace),
      known: recordsOf([...there.values()], namespace),
    }, { leads });
    there.clear();
    for (const report of now) there.set(report.metadata.name, report);
    records.clear();
    for (const record of merged.records) records.set(keyOf(record.workload), record);
    for (const record of merged.taken) {
      within(taken, namespace).set(keyOf(record.workload), record);
    }
    return leads || merged.hasNews;
  }

  /** A look that had begun before somebody else's record was taken over knows less than that. */
  function isOutdated(record: WorkloadRecord): boolean {
    const { namespace } = record.workload;
    const key = keyOf(record.workload);
    const other = taken.get(namespace)?.get(key);
    if (appliedAt(other) > appliedAt(record)) return true;
    taken.get(namespace)?.delete(key);
    return false;
  }

  /** Namespaces come and go. */
  function forgetEmpty(namespace: string): void {
    for (const maps of [books, stored, taken]) {
      if (maps.get(namespace)?.size === 0) maps.delete(namespace);
    }
  }

  async function flushAll(namespaces: ReadonlySet<string>): Promise<void> {
    const failures: string[] = [];
    for (const namespace of [...namespaces]) {
      changed.delete(namespace);
      applied.delete(namespace);
      try {
        await writeOver(namespace);
        failing.delete(namespace);
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) {
          // A namespace that is gone has no reports, nor workloads.
          stored.delete(namespace);
          failing.delete(namespace);
          forgetEmpty(namespace);
          continue;
        }
        changed.add(namespace);
        if (!(error instanceof ApiError)) throw error;
        const { sinceMs = clock.monotonic() } = failing.get(namespace) ?? {};
        failing.set(namespace, { sinceMs, message: error.message });
        failures.push(`${namespace}: ${error.message}`);
      }
    }
    const [error] = failures;
    if (error !== undefined && !fails) {
      log.warn("Reports can't be written", { namespaces: failures.length, error });
    }
    fails = error !== undefined;
  }

  /** Who fails is told so; the next one tries again. */
  function flushNext(namespaces: ReadonlySet<string>): Promise<void> {
    const own = last.then(() => flushAll(namespaces));
    last = own.catch(() => undefined);
    return own;
  }

  return {
    get: (workload) => books.get(workload.namespace)?.get(keyOf(workload)),
    namespaces: () => books.keys(),
    set(record) {
      if (isOutdated(record)) return;
      const { namespace } = record.workload;
      const records = within(books, namespace);
      const key = keyOf(record.workload);
      if (isApplied(record, records.get(key))) applied.add(namespace);
      records.set(key, record);
      changed.add(namespace);
    },
    keepOnly(keep) {
      for (const [namespace, records] of books) {
        for (const [key, record] of records) {
          if (keep(record)) continue;
          records.delete(key);
          taken.get(namespace)?.delete(key);
          changed.add(namespace);
        }
      }
    },
    flush: () => flushNext(changed),
    flushApplied: () => flushNext(applied),
    unwritten(namespace) {
      const { sinceMs = Infinity, message } = failing.get(namespace) ?? {};
      return clock.monotonic() - sinceMs < TOLD_AFTER_MS ? undefined : message;
    },
  };
}

function isApplied(record: WorkloadRecord, before: WorkloadRecord | undefined): boolean {
  return record.appliedAtMs !== before?.appliedAtMs ||
    JSON.stringify(record.inForce) !== JSON.stringify(before?.inForce ?? []);
}

function keyOf({ kind, namespace, name }: WorkloadName): string {
  return workloadKey({ kind, metadata: { namespace, name, labels: {} } });
}

function within<T>(maps: Map<string, Map<string, T>>, namespace: string): Map<string, T> {
  const known = maps.get(namespace) ?? new Map<string, T>();
  maps.set(namespace, known);
  return known;
}

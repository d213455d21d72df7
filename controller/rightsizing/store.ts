/**
 * Records of workloads after their last reconcile: in memory, and in the RecommendationReports of their
 * namespaces, so that the next process has them.
 *
 * @module
 */
import { ApiError } from "../../shared/api/api_error.ts";
import type { RecommendationReport } from "../../shared/api/recommendation_report.ts";
import type { Clock } from "../../shared/clock.ts";
import type { Log } from "../../shared/log.ts";
import { workloadKey } from "../../shared/rightsizing/policy_match.ts";
import {
  appliedAt,
  isReportName,
  mergeRecords,
  recordsOf,
  reportParts,
  writeOrder,
} from "../../shared/rightsizing/reports.ts";
import type { WorkloadRecord } from "../../shared/rightsizing/workload_record.ts";
import type { ReportStore } from "../../shared/rightsizing/ports.ts";

/** Names a workload. */
export type WorkloadName = WorkloadRecord["workload"];

/** Dependencies of the store. */
export interface RecordStoreParts {
  /** The reports on the server at the beginning. */
  readonly reports: Iterable<RecommendationReport>;
  readonly store: ReportStore;
  readonly clock: Pick<Clock, "monotonic">;
  readonly log: Log;
  /**
   * Aborted when this process no longer leads: from then on records of another writer take precedence, except
   * where this one has applied values later.
   */
  readonly signal: AbortSignal;
}

/** Failures that last longer are reported on policies, ms. */
const REPORTED_AFTER_MS = 60_000;
/** Between two writes of records with applied values, ms. */
const APPLIED_MS = 5000;

/** The records of one namespace, by key of the workload. */
interface NamespaceRecords {
  readonly namespace: string;
  readonly records: Map<string, WorkloadRecord>;
  /** Reports as last read or written, by name. */
  readonly stored: Map<string, RecommendationReport>;
  /** Records of another writer, until a reconcile that began with them has ended. */
  readonly taken: Map<string, WorkloadRecord>;
  /** Since when writes fail, by the monotonic clock, and with which message. */
  failing?: { readonly sinceMs: number; readonly message: string } | undefined;
}

/** The records, and their way to the reports. */
export class RecordStore {
  readonly #parts: Omit<RecordStoreParts, "reports">;
  readonly #all = new Map<string, NamespaceRecords>();
  /** Namespaces with changes. */
  readonly #changed = new Set<string>();
  /** Namespaces of `#changed` where values were applied. */
  readonly #applied = new Set<string>();
  #isFailing = false;
  #last: Promise<unknown> = Promise.resolve();

  /** A store of the records in the reports. */
  constructor({ reports, ...parts }: RecordStoreParts) {
    this.#parts = parts;
    for (const report of reports) {
      const { namespace, name } = report.metadata;
      if (isReportName(name)) this.#within(namespace).stored.set(name, report);
    }
    for (const { namespace, records, stored } of this.#all.values()) {
      setAll(records, recordsOf([...stored.values()], namespace));
    }
  }

  get(workload: WorkloadName): WorkloadRecord | undefined {
    return this.#all.get(workload.namespace)?.records.get(keyOfName(workload));
  }

  /** Replaces the record of the workload, unless another writer has applied values later. */
  set(record: WorkloadRecord): void {
    const { namespace } = record.workload;
    const { records, taken } = this.#within(namespace);
    const key = keyOfName(record.workload);
    // The reconcile began before the other writer's record was read.
    if (appliedAt(taken.get(key)) > appliedAt(record)) return;
    taken.delete(key);
    if (isApplied(record, records.get(key))) this.#applied.add(namespace);
    records.set(key, record);
    this.#changed.add(namespace);
  }

  /** Deletes records that `keep` rejects. */
  keepOnly(keep: (record: WorkloadRecord) => boolean): void {
    for (const { namespace, records, taken } of this.#all.values()) {
      for (const [key, record] of records) {
        if (keep(record)) continue;
        records.delete(key);
        taken.delete(key);
        this.#changed.add(namespace);
      }
    }
  }

  /**
   * Writes the reports of namespaces with changes. The next flush retries failed writes. Flushes run one after the
   * other: of two concurrent writes of a report the older could arrive last.
   */
  flush(): Promise<void> {
    return this.#flushNext(this.#changed);
  }

  /**
   * Writes reports of namespaces in which values were applied since the last write. During a long cycle, a crash
   * must not lose these values, and new pods need them.
   */
  flushApplied(): Promise<void> {
    return this.#flushNext(this.#applied);
  }

  /** The server's message, where the reports of a namespace could not be written for a minute. */
  unwritten(namespace: string): string | undefined {
    const { sinceMs = Infinity, message } = this.#all.get(namespace)?.failing ?? {};
    return this.#parts.clock.monotonic() - sinceMs < REPORTED_AFTER_MS ? undefined : message;
  }

  #within(namespace: string): NamespaceRecords {
    const known = this.#all.get(namespace) ??
      { namespace, records: new Map(), stored: new Map(), taken: new Map() };
    this.#all.set(namespace, known);
    return known;
  }

  #flushNext(namespaces: ReadonlySet<string>): Promise<void> {
    const flushed = this.#last.then(() => this.#flushAll(namespaces));
    // The caller of each flush gets its failure.
    this.#last = flushed.catch(() => undefined);
    return flushed;
  }

  async #flushAll(namespaces: ReadonlySet<string>): Promise<void> {
    const failures: string[] = [];
    for (const namespace of [...namespaces]) {
      this.#changed.delete(namespace);
      const wasApplied = this.#applied.delete(namespace);
      const known = this.#within(namespace);
      try {
        await this.#flushNamespace(known);
      } catch (error) {
        this.#changed.add(namespace);
        if (wasApplied) this.#applied.add(namespace);
        if (!(error instanceof ApiError)) throw error;
        const { sinceMs = this.#parts.clock.monotonic() } = known.failing ?? {};
        known.failing = { sinceMs, message: error.message };
        failures.push(`${namespace}: ${error.message}`);
        continue;
      }
      known.failing = undefined;
      if ([known.records, known.stored, known.taken].every(({ size }) => size === 0)) {
        this.#all.delete(namespace);
      }
    }
    const [error] = failures;
    if (error !== undefined && !this.#isFailing) {
      this.#parts.log.warn("Failed to write reports", { namespaces: failures.length, error });
    }
    this.#isFailing = error !== undefined;
  }

  /** Writes the reports; after a conflict once more, merged with the other writer's records. */
  async #flushNamespace(known: NamespaceRecords): Promise<void> {
    try {
      await this.#writeReports(known);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // A deleted namespace has no reports.
      if (error.status === 404) known.stored.clear();
      else if (error.status !== 409) throw error;
      else if (await this.#mergeStored(known)) await this.#writeReports(known);
    }
  }

  /** Writes all reports. A report that was written by another writer since causes a conflict. */
  async #writeReports({ namespace, records, stored }: NamespaceRecords): Promise<void> {
    const { store } = this.#parts;
    const parts = reportParts([...records.values()]);
    for (const part of writeOrder(parts, stored)) {
      const { resourceVersion } = stored.get(part.name)?.metadata ?? {};
      const version = resourceVersion === undefined ? {} : { resourceVersion };
      stored.set(part.name, await store.apply({ ...part, namespace, ...version }));
    }
    for (const [name, report] of [...stored]) {
      if (parts.some((part) => part.name === name)) continue;
      try {
        await store.remove(report);
      } catch (error) {
        if (!(error instanceof ApiError && error.status === 404)) throw error;
      }
      stored.delete(name);
    }
  }

  /** Merges the other writer's records; returns false where no record of this one must be written. */
  async #mergeStored(
    { namespace, records, stored, taken }: NamespaceRecords,
  ): Promise<boolean> {
    const { store, signal } = this.#parts;
    const now = (await store.list(namespace)).filter(({ metadata }) => isReportName(metadata.name));
    const leads = !signal.aborted;
    const merged = mergeRecords({
      ours: [...records.values()],
      theirs: recordsOf(now, namespace),
      base: recordsOf([...stored.values()], namespace),
    }, { leads });
    stored.clear();
    for (const report of now) stored.set(report.metadata.name, report);
    records.clear();
    setAll(records, merged.records);
    setAll(taken, merged.taken);
    return leads || merged.isAhead;
  }
}

function setAll(map: Map<string, WorkloadRecord>, records: readonly WorkloadRecord[]): void {
  for (const record of records) map.set(keyOfName(record.workload), record);
}

function isApplied(record: WorkloadRecord, before: WorkloadRecord | undefined): boolean {
  return record.appliedAtMs !== before?.appliedAtMs ||
    JSON.stringify(record.inForce) !== JSON.stringify(before?.inForce ?? []);
}

/** The key of a workload by its name. */
export function keyOfName({ kind, namespace, name }: WorkloadName): string {
  return workloadKey({ kind, metadata: { namespace, name } });
}

/** Writes records with applied values every few seconds until `signal` is aborted, even after failures. */
export async function writeAppliedRecords(
  { records, clock, log }: {
    readonly records: Pick<RecordStore, "flushApplied">;
    readonly clock: Pick<Clock, "sleep">;
    readonly log: Log;
  },
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(APPLIED_MS, signal);
    if (signal.aborted) return;
    try {
      await records.flushApplied();
    } catch (error) {
      // The next flush of a cycle tries again.
      log.warn("Failed to write what was applied", { error: String(error) });
    }
  }
}

/**
 * The history of one kind: what watches read, until it is compacted.
 *
 * @module
 */
import { ApiError } from "../../shared/api/api_error.ts";
import type { ApiObject } from "../../shared/api/object.ts";

/** One write. */
export interface LogEntry<T extends ApiObject> {
  /** The store's version after it. */
  readonly version: number;
  /** When it happened, ms of the monotonic clock. */
  readonly atMs: number;
  /** The object before; absent when it was created. */
  readonly before: T | undefined;
  /** The object after; absent when it was removed. */
  readonly after: T | undefined;
  /** `after`, or what was removed with the version of the removal. */
  readonly object: T;
}

/** Writes in order. */
export interface EventLog<T extends ApiObject> {
  append(entry: LogEntry<T>): void;
  /**
   * Position of the first entry after `version`. Throws an `ApiError` with status 410 when some
   * of those entries are gone already.
   */
  after(version: number): number;
  /** The entry there; undefined at the end. Throws an `ApiError` with status 410 when it is gone. */
  at(position: number): LogEntry<T> | undefined;
  /** Forgets the entries up to and including `version`. */
  compact(version: number): void;
}

function expired(what: string): ApiError {
  return new ApiError(410, "Expired", `too old resource version: ${what}`);
}

/** An empty log that keeps the last `limit` entries, and up to twice as many before it cuts. */
export function createEventLog<T extends ApiObject>(limit: number): EventLog<T> {
  let entries: LogEntry<T>[] = [];
  let dropped = 0;
  let compactedTo = 0;

  function compact(version: number): void {
    compactedTo = Math.max(compactedTo, version);
    const keep = firstAfter(version);
    dropped += keep;
    entries = entries.slice(keep);
  }

  /** Binary search: entries are in the order of their versions. */
  function firstAfter(version: number): number {
    let low = 0;
    let high = entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((entries[middle]?.version ?? Infinity) > version) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  return {
    append(entry) {
      entries.push(entry);
      if (entries.length > 2 * limit) compact(entries[limit - 1]?.version ?? 0);
    },
    after(version) {
      if (!(version >= compactedTo)) throw expired(`${version} (${compactedTo})`);
      return dropped + firstAfter(version);
    },
    at(position) {
      if (position < dropped) throw expired(`compacted up to ${compactedTo}`);
      return entries[position - dropped];
    },
    compact,
  };
}

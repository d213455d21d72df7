/**
 * Logs of the writes to the simulated API and of the events that it received.
 *
 * @module
 */
import { ApiError } from "../../../shared/api/api_error.ts";
import type { ApiObject } from "../../../shared/api/object.ts";
import type { MarketEvent } from "../../../shared/api/ports.ts";
import type { Clock } from "../../../shared/clock.ts";
import type { RightsizingEvent } from "../../../controller/rightsizing/ports.ts";

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
export function createEventLog<T extends ApiObject>(limit = 5000): EventLog<T> {
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

/** A sink that keeps the last events, each with its time in ms of the monotonic clock. */
export interface EventList<E = MarketEvent> {
  emit(event: E): void;
  /** Oldest first. */
  all(): readonly (E & { readonly atMs: number })[];
}

/** A list of events of rightsizing. */
export type RightsizingEventList = EventList<RightsizingEvent>;

/** Events that are kept. */
const KEPT = 1000;

/** An empty list; events are lost while the server is not reachable. */
export function createEventList<E>(clock: Clock, reachable: () => boolean): EventList<E> {
  let events: (E & { readonly atMs: number })[] = [];
  return {
    emit(event) {
      if (!reachable()) return;
      events.push({ ...event, atMs: clock.monotonic() });
      if (events.length > 2 * KEPT) events = events.slice(-KEPT);
    },
    all: () => events.slice(-KEPT),
  };
}

/**
 * Logs of the writes to the simulated API and of the events that it received.
 *
 * @module
 */
import { ApiError } from "../../../shared/api/api_error.ts";
import type { ApiObject } from "../../../shared/api/object.ts";
import type { MarketEvent } from "../../../shared/api/ports.ts";
import type { Clock } from "../../../shared/clock.ts";

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

function expired(what: string): ApiError {
  return new ApiError(410, "Expired", `too old resource version: ${what}`);
}

/** Writes in order: it keeps the last `limit` entries, and up to twice as many before it cuts. */
export class EventLog<T extends ApiObject> {
  readonly #limit: number;
  #entries: LogEntry<T>[] = [];
  #dropped = 0;
  #compactedTo = 0;

  constructor(limit = 5000) {
    this.#limit = limit;
  }

  append(entry: LogEntry<T>): void {
    this.#entries.push(entry);
    if (this.#entries.length <= 2 * this.#limit) return;
    this.compact(this.#entries[this.#limit - 1]?.version ?? 0);
  }

  /**
   * Position of the first entry after `version`. Throws an `ApiError` with status 410 when some
   * of those entries are gone already.
   */
  after(version: number): number {
    if (!(version >= this.#compactedTo)) throw expired(`${version} (${this.#compactedTo})`);
    return this.#dropped + this.#firstAfter(version);
  }

  /** The entry there; undefined at the end. Throws an `ApiError` with status 410 when it is gone. */
  at(position: number): LogEntry<T> | undefined {
    if (position < this.#dropped) throw expired(`compacted up to ${this.#compactedTo}`);
    return this.#entries[position - this.#dropped];
  }

  /** Forgets the entries up to and including `version`. */
  compact(version: number): void {
    this.#compactedTo = Math.max(this.#compactedTo, version);
    const keep = this.#firstAfter(version);
    this.#dropped += keep;
    this.#entries = this.#entries.slice(keep);
  }

  /** Binary search: entries are in the order of their versions. */
  #firstAfter(version: number): number {
    let low = 0;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#entries[middle]?.version ?? Infinity) > version) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

/** A sink that keeps the last events, each with its time in ms of the monotonic clock. */
export interface EventList<E = MarketEvent> {
  emit(event: E): void;
  /** Oldest first. */
  all(): readonly (E & { readonly atMs: number })[];
}

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

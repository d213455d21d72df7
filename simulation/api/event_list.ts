/**
 * The last events on pods, for tests and tables.
 *
 * @module
 */
import type { EventSink, PodEvent } from "../../controller/allocation/ports.ts";
import type { Clock } from "../../shared/clock.ts";

/** An event and its time, ms of the monotonic clock. */
export type KeptEvent = PodEvent & { readonly atMs: number };

/** A sink that keeps the last events. */
export interface EventList extends EventSink {
  /** Oldest first. */
  all(): readonly KeptEvent[];
}

/** What the list needs. */
export interface EventListOptions {
  readonly clock: Clock;
  /** False while events are lost. */
  readonly reachable: () => boolean;
  /**
   * Events that are kept.
   *
   * @default {1000}
   */
  readonly limit?: number;
}

/** An empty list. */
export function createEventList({ clock, reachable, limit = 1000 }: EventListOptions): EventList {
  let events: KeptEvent[] = [];
  return {
    emit(event) {
      if (!reachable()) return;
      events.push({ ...event, atMs: clock.monotonic() });
      if (events.length > 2 * limit) events = events.slice(-limit);
    },
    all: () => events.slice(-limit),
  };
}

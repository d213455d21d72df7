/**
 * The last events on policies and workloads, for tests and tables.
 *
 * @module
 */
import type { RightsizingEvent, RightsizingEvents } from "../../controller/rightsizing/ports.ts";
import type { EventListOptions } from "./event_list.ts";

/** An event and its time, ms of the monotonic clock. */
export type KeptRightsizingEvent = RightsizingEvent & { readonly atMs: number };

/** A sink that keeps the last events. */
export interface RightsizingEventList extends RightsizingEvents {
  /** Oldest first. */
  all(): readonly KeptRightsizingEvent[];
}

/** An empty list. */
export function createRightsizingEventList(
  { clock, reachable, limit = 1000 }: EventListOptions,
): RightsizingEventList {
  let events: KeptRightsizingEvent[] = [];
  return {
    emit(event) {
      if (!reachable()) return;
      events.push({ ...event, atMs: clock.monotonic() });
      if (events.length > 2 * limit) events = events.slice(-limit);
    },
    all: () => events.slice(-limit),
  };
}

/**
 * Who sits at the market's table now: seats are worked out once for each version of an allocation.
 *
 * @module
 */
import type { PodAllocation } from "../shared/api/pod_allocation.ts";
import { objectKey } from "../shared/control/object_key.ts";
import type { Log } from "../shared/log.ts";
import { type Seat, type Seats, seatsOf } from "./seats.ts";

/** Keeps the seats of allocations as long as these stay the same objects. */
export interface Seating {
  /**
   * The seats of these allocations, in order of their keys. An allocation with a bad bid is left out,
   * with its reason in the log; so is one that claims a container which another one has.
   */
  seat(allocations: readonly PodAllocation[]): readonly Seat[];
}

/** A seating that knows no allocation yet. */
export function createSeating(log: Log): Seating {
  const known = new WeakMap<PodAllocation, { readonly key: string; readonly found: Seats }>();
  const clashes = new WeakSet<PodAllocation>();

  const entryOf = (allocation: PodAllocation): { key: string; found: Seats } => {
    let entry = known.get(allocation);
    if (entry === undefined) {
      entry = { key: objectKey(allocation.metadata), found: seatsOf(allocation) };
      known.set(allocation, entry);
      if ("refused" in entry.found) leftOut(entry.key, entry.found.refused);
    }
    return entry;
  };

  const leftOut = (key: string, reason: string): void =>
    log.warn("Left an allocation out of the market", { key, reason });

  return {
    seat(allocations) {
      const taken = new Set<string>();
      const entries = allocations.map((allocation) => ({ allocation, ...entryOf(allocation) }));
      entries.sort((a, b) => a.key < b.key ? -1 : 1);
      return entries.flatMap(({ allocation, key, found }) => {
        if ("refused" in found) return [];
        const ids = new Set(found.seats.map(({ containerID }) => containerID));
        const clash = ids.size < found.seats.length || [...ids].some((id) => taken.has(id));
        if (clash) {
          if (!clashes.has(allocation)) leftOut(key, "one of its containers has a seat already");
          clashes.add(allocation);
          return [];
        }
        for (const id of ids) taken.add(id);
        return found.seats;
      });
    },
  };
}

/**
 * Who sits at the market's table now: seats are worked out once for each version of an allocation.
 *
 * @module
 */
import type { PodAllocation } from "../shared/api/pod_allocation.ts";
import { objectKey } from "../shared/control/object_key.ts";
import type { Log } from "../shared/log.ts";
import { type Seat, type Seats, seatsOf } from "./seats.ts";

/** The market's table. The same object as long as nothing about it changes. */
export interface Table {
  /** In order of the allocations' keys, those of one allocation side by side. */
  readonly seats: readonly Seat[];
  /** The hex ids of the seats' containers. */
  readonly named: ReadonlySet<string>;
  /** The seats by those ids. */
  readonly byContainer: ReadonlyMap<string, Seat>;
  /** The keys of all allocations, seated or not. */
  readonly keys: ReadonlySet<string>;
}

/** Keeps the seats of allocations as long as these stay the same objects. */
export interface Seating {
  /**
   * The table for these allocations. One with a bad bid is left out, with its reason in the log; so
   * is one that claims a container which another one has.
   */
  seat(allocations: Iterable<PodAllocation>): Table;
}

interface Entry {
  readonly key: string;
  readonly found: Seats;
}

/** A seating that knows no allocation yet. */
export function createSeating(log: Log): Seating {
  const known = new WeakMap<PodAllocation, Entry>();
  const clashes = new WeakSet<PodAllocation>();
  let seated: readonly PodAllocation[] = [];
  let table: Table = { seats: [], named: new Set(), byContainer: new Map(), keys: new Set() };

  const entryOf = (allocation: PodAllocation): Entry => {
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

  const tableOf = (allocations: readonly PodAllocation[]): Table => {
    const named = new Set<string>();
    const entries = allocations.map((allocation) => ({ allocation, ...entryOf(allocation) }));
    entries.sort((a, b) => a.key < b.key ? -1 : 1);
    const seats = entries.flatMap(({ allocation, key, found }) => {
      if ("refused" in found) return [];
      const ids = new Set(found.seats.map(({ containerID }) => containerID));
      const clash = ids.size < found.seats.length || [...ids].some((id) => named.has(id));
      if (clash) {
        if (!clashes.has(allocation)) leftOut(key, "one of its containers has a seat already");
        clashes.add(allocation);
        return [];
      }
      for (const id of ids) named.add(id);
      return found.seats;
    });
    const byContainer = new Map(seats.map((seat) => [seat.containerID, seat]));
    return { seats, named, byContainer, keys: new Set(entries.map(({ key }) => key)) };
  };

  return {
    seat(allocations) {
      // Copied from the first difference on: this runs at each look, and mostly there is none.
      let changed: PodAllocation[] | undefined;
      let count = 0;
      for (const allocation of allocations) {
        if (changed !== undefined) changed.push(allocation);
        else if (allocation !== seated[count]) changed = [...seated.slice(0, count), allocation];
        count++;
      }
      if (count < seated.length) changed ??= seated.slice(0, count);
      if (changed !== undefined) {
        seated = changed;
        table = tableOf(seated);
      }
      return table;
    },
  };
}

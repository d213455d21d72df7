/**
 * The cgroups of a service's replicas, read as they come and go.
 *
 * @module
 */
import { heldBack, type LevelMemory, NO_LEVEL_MEMORY } from "../../shared/cgroup/held_back.ts";
import type { Pod } from "../../shared/api/pod.ts";
import {
  type PodDirectories,
  podDirectories,
  quotaOf,
} from "../../tests/cluster/scene/node_cgroups.ts";
import { growth, type LevelCounters, levelCounters } from "../../tests/host/level_counters.ts";
import { CONTAINER } from "./service_pod.ts";

/** What a service used and lost since the last look, ms. */
export interface Growth {
  readonly usageMs: number;
  /** Both levels made one figure, as the agent does it. */
  readonly throttledMs: number;
  /** As the kernel counts them. */
  readonly podLevelMs: number;
  readonly containerLevelMs: number;
}

/** The replicas of one service. */
export interface ServiceSeats {
  /** Takes up pods that are new, and forgets none: a cgroup that is gone is dropped when read. */
  join(pods: readonly Pod[]): void;
  /** Millicores in force, summed over replicas; undefined while there is none with a quota. */
  limit(): number | undefined;
  /** What came since the last call. */
  grow(): Growth;
  /** Replicas with cgroups, now. */
  count(): number;
}

/** How the machine is. */
export interface SeatOptions {
  readonly cores: number;
  /** ms of a monotonic clock. */
  readonly now: () => number;
}

interface Seat {
  readonly directories: PodDirectories;
  readonly container: string;
  atMs: number;
  pod: LevelCounters;
  own: LevelCounters;
  memory: LevelMemory;
  roomMs: number;
}

/** Threads of a replica that may want to run: more than a machine of this kind has CPUs. */
const MANY_THREADS = 8;

/** A service without replicas so far. */
// deno-lint-ignore house/function-length
export function createServiceSeats({ cores, now }: SeatOptions): ServiceSeats {
  const seats = new Map<string, Seat>();

  /** Reads each replica; one whose cgroup is gone is left out from then on. */
  function each(read: (seat: Seat) => void): void {
    for (const [uid, seat] of seats) {
      try {
        read(seat);
      } catch (error) {
        if (!isGone(error)) throw error;
        seats.delete(uid);
      }
    }
  }

  function add(pod: Pod): void {
    const directories = podDirectories(pod);
    const container = directories.containers.get(CONTAINER);
    if (container === undefined) return;
    const counters = (directory: string): LevelCounters =>
      levelCounters(directory, directories.version);
    seats.set(pod.metadata.uid, {
      directories,
      container,
      atMs: now(),
      pod: counters(directories.pod),
      own: counters(container),
      memory: NO_LEVEL_MEMORY,
      roomMs: 0,
    });
  }

  return {
    join(pods) {
      for (const pod of pods) {
        if (seats.has(pod.metadata.uid) || pod.phase !== "Running") continue;
        try {
          add(pod);
        } catch {
          // Between the API's word and the kernel's: the next look finds it, or it is over.
        }
      }
    },
    limit() {
      let sum: number | undefined;
      each(({ directories: { version, pod }, container }) => {
        const quota = Math.min(
          quotaOf(container, version) ?? 1000 * cores,
          quotaOf(pod, version) ?? 1000 * cores,
        );
        sum = (sum ?? 0) + quota;
      });
      return sum;
    },
    grow() {
      const total = { usageMs: 0, throttledMs: 0, podLevelMs: 0, containerLevelMs: 0 };
      each((seat) => {
        const { version, pod } = seat.directories;
        const [atMs, podNow, ownNow] = [
          now(),
          levelCounters(pod, version),
          levelCounters(seat.container, version),
        ];
        const span = { at: atMs, intervalMs: atMs - seat.atMs };
        const podSpan = { ...span, ...growth(seat.pod, podNow) };
        const ownSpan = { ...span, ...growth(seat.own, ownNow) };
        const lost = heldBack(seat.memory, {
          cores,
          pod: podSpan,
          containers: [{ interval: ownSpan, threads: MANY_THREADS, roomMs: seat.roomMs }],
        });
        const container = lost.containers[0];
        total.usageMs += podSpan.usageMs;
        total.throttledMs += container?.heldBackMs ?? 0;
        total.podLevelMs += podSpan.throttledMs;
        total.containerLevelMs += ownSpan.throttledMs;
        seat.memory = lost.memory;
        seat.roomMs = container?.roomMs ?? 0;
        seat.atMs = atMs;
        seat.pod = podNow;
        seat.own = ownNow;
      });
      return total;
    },
    count: () => seats.size,
  };
}

/** A directory that was removed, or is being removed: then the file is there and can't be read. */
function isGone(error: unknown): boolean {
  return error instanceof Deno.errors.NotFound || /ENODEV|os error 19/.test(String(error));
}

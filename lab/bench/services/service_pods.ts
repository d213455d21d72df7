/**
 * The cgroups of a service's replicas, read as they come and go.
 *
 * @module
 */
import {
  type LevelMemory,
  NO_LEVEL_MEMORY,
  throttledTime,
} from "../../../shared/cgroup/throttled_time.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import {
  type PodDirectories,
  podDirectories,
  quotaOf,
} from "../../../tests/cluster/scene/node_cgroups.ts";
import { growth, type LevelCounters, levelCounters } from "../../../tests/host/level_counters.ts";
import { CONTAINER } from "./service_pod.ts";

/** What a service used and lost since the last look, ms. */
export interface Growth {
  readonly usageMs: number;
  /** Both levels made one figure, as the agent does it. */
  readonly throttledMs: number;
}

/** The replicas of one service. */
export interface ServicePods {
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
export interface ServicePodsOptions {
  readonly cores: number;
  /** ms of a monotonic clock. */
  readonly now: () => number;
}

interface CountedPod {
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
export function createServicePods({ cores, now }: ServicePodsOptions): ServicePods {
  const counted = new Map<string, CountedPod>();

  /** Reads each replica; one with a cgroup that is gone is left out from then on. */
  function each(read: (counter: CountedPod) => void): void {
    for (const [uid, counter] of counted) {
      try {
        read(counter);
      } catch (error) {
        if (!isGone(error)) throw error;
        counted.delete(uid);
      }
    }
  }

  function add(pod: Pod): void {
    const directories = podDirectories(pod);
    const container = directories.containers.get(CONTAINER);
    if (container === undefined) return;
    const counters = (directory: string): LevelCounters =>
      levelCounters(directory, directories.version);
    counted.set(pod.metadata.uid, {
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
        if (counted.has(pod.metadata.uid) || pod.phase !== "Running") continue;
        try {
          add(pod);
        } catch {
          // Between the API's state and the kernel's: the next look finds it, or it is over.
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
      const total = { usageMs: 0, throttledMs: 0 };
      each((counter) => {
        const { version, pod } = counter.directories;
        const [atMs, podNow, ownNow] = [
          now(),
          levelCounters(pod, version),
          levelCounters(counter.container, version),
        ];
        const span = { at: atMs, intervalMs: atMs - counter.atMs };
        const podSpan = { ...span, ...growth(counter.pod, podNow) };
        const ownSpan = { ...span, ...growth(counter.own, ownNow) };
        const lost = throttledTime(counter.memory, {
          cores,
          pod: podSpan,
          containers: [{ interval: ownSpan, threads: MANY_THREADS, roomMs: counter.roomMs }],
        });
        const container = lost.containers[0];
        total.usageMs += podSpan.usageMs;
        total.throttledMs += container?.throttledMs ?? 0;
        counter.memory = lost.memory;
        counter.roomMs = container?.roomMs ?? 0;
        counter.atMs = atMs;
        counter.pod = podNow;
        counter.own = ownNow;
      });
      return total;
    },
    count: () => counted.size,
  };
}

/** A directory that was removed, or is being removed: then the file is there and can't be read. */
function isGone(error: unknown): boolean {
  return error instanceof Deno.errors.NotFound || /ENODEV|os error 19/.test(String(error));
}

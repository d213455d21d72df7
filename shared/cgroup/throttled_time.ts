/**
 * The time for which a quota throttled containers, from the counters of container and pod.
 *
 * The kubelet sets a quota on the container and, when all containers of the pod have limits, the sum on
 * the pod. How the two counters add up depends on the kernel:
 *
 * - Some kernels count most pauses at the level at which the quota ran out first. The true time is the sum, or
 *   less where pauses overlap. (Seen on 6.18: a loop held at 200 m for 75 s was throttled 17.9 s at its
 *   own level and 39.4 s at the pod's, of a true 59.8 s.)
 * - Others count each pause at both. The true time is either. (Seen on 6.1: 45.97 and 45.99 s.)
 *
 * Growth within 5 % of each other means the second kind. A single interval does not show it: a pause is
 * counted when it ends, the levels' timers differ in phase, and 250 ms hold only two or three pauses, so
 * equal levels often differ by a third (on the 6.1 recording, deciding by single intervals gives 66 s
 * instead of 46 s). So the growth over the last {@linkcode MEMORY_MS}, fading out, is compared, and one
 * period of difference is always allowed.
 *
 * The pod's time is shared among its containers by the CPU that each used in the interval: a shared
 * quota runs out by use, and a container without usage could hardly be throttled.
 *
 * @module
 */
import type { Interval } from "./sample.ts";

/** Recent counts of the two levels of one pod: milliseconds, fading out. */
export interface LevelMemory {
  /** At the pod's level. */
  readonly podMs: number;
  /** At the containers' level, summed. */
  readonly sumMs: number;
  /** At the level of the container that counted most in each interval. */
  readonly largestMs: number;
}

/** One container's interval. */
export interface ContainerInterval {
  readonly interval: Interval;
  /** Millicores, where it has one. */
  readonly quota?: number | undefined;
  /** Threads in its cgroup, idle ones included; absent when they were not counted. */
  readonly threads?: number | undefined;
  /** {@linkcode ThrottledTime.roomMs} of the interval before. @default {0} */
  readonly roomMs?: number;
}

/** The intervals of one pod. */
export interface PodIntervals {
  /** The interval of the pod's own cgroup; absent where that could not be read. */
  readonly pod?: Interval | undefined;
  readonly containers: readonly ContainerInterval[];
  /** CPUs of the node. */
  readonly cores: number;
}

/** Throttling of one container in its interval. */
export interface ThrottledTime {
  /** Milliseconds, summed over threads that stood still. */
  readonly throttledMs: number;
  /** Periods in which a quota ran out, at either level. */
  readonly throttledPeriods: number;
  /** Time in which it could still have been throttled: an input of the next interval. */
  readonly roomMs: number;
}

/** The memory of a new pod. */
export const NO_LEVEL_MEMORY: LevelMemory = { podMs: 0, sumMs: 0, largestMs: 0 };

/** Time constant of the memory. 5 s to 30 s give the same results on the recordings. */
const MEMORY_MS = 10_000;
/** Counts that differ by up to this share of the larger are of the same pauses. */
const SAME_SHARE = 0.05;
/** One enforcement period: the longest pause that is not counted yet. */
const PERIOD_MS = 100;

/**
 * Takes one interval of a pod and returns the new memory and the throttled time of each container, in the
 * order given. A container was throttled for at most n × Δt − its usage, with n the runnable threads.
 * No cgroup file has their number; n is the smaller of `cores` and all threads. So the bound is exact for
 * a single busy thread (Linux 6.18 counts its pauses partly at both levels), and loose for a large pool
 * with few busy threads. A pause is counted when it ends, so up to one period of room below the bound is
 * carried to the next interval.
 */
export function throttledTime(
  memory: LevelMemory,
  { pod, containers, cores }: PodIntervals,
): { memory: LevelMemory; containers: ThrottledTime[] } {
  const podMs = pod?.throttledMs ?? 0;
  const sumMs = total(containers, ({ interval }) => interval.throttledMs);
  const spanMs = pod?.intervalMs ?? containers[0]?.interval.intervalMs ?? 0;
  const old = fadeMemory(memory, spanMs);
  const largest = Math.max(0, ...containers.map(({ interval }) => interval.throttledMs));
  const next = {
    podMs: old.podMs + podMs,
    sumMs: old.sumMs + sumMs,
    largestMs: old.largestMs + largest,
  };
  const same = samePauses(next);
  const portions = portionsOf(containers, pod?.usageMs ?? 0);
  const throttled = containers.map(
    ({ interval, threads = cores, roomMs = 0 }, index): ThrottledTime => {
      const portion = portions[index] ?? 0;
      const fromPod = podMs * portion;
      const ownMs = interval.throttledMs;
      // The same pauses: the container's own count, scaled up to the pod's where that is larger. Divides first:
      // `podMs / sumMs` may be infinite, a part of the sum is at most 1.
      const both = sumMs === 0 ? fromPod : Math.max(ownMs, ownMs / sumMs * podMs);
      const runnable = Math.min(cores, Math.max(1, threads));
      const ceilingMs = Math.max(0, runnable * interval.intervalMs - interval.usageMs) + roomMs;
      const throttledMs = Math.min(same ? both : ownMs + fromPod, ceilingMs);
      const podPeriods = Math.round((pod?.throttledPeriods ?? 0) * portion);
      const periods = same
        ? Math.max(interval.throttledPeriods, podPeriods)
        : interval.throttledPeriods + podPeriods;
      return {
        throttledMs,
        roomMs: Math.min(runnable * PERIOD_MS, ceilingMs - throttledMs),
        throttledPeriods: Math.min(periods, Math.max(interval.periods, interval.throttledPeriods)),
      };
    },
  );
  return { memory: next, containers: throttled };
}

/** The memory after a time in which neither level counted anything. */
export function fadeMemory(memory: LevelMemory, spanMs: number): LevelMemory {
  if (memory.podMs === 0 && memory.sumMs === 0) return memory;
  const factor = Math.exp(-spanMs / MEMORY_MS);
  return {
    podMs: memory.podMs * factor,
    sumMs: memory.sumMs * factor,
    largestMs: memory.largestMs * factor,
  };
}

/** {@linkcode ThrottledTime.roomMs} after an interval without throttling. */
export function roomAfterIdle(cores: number): number {
  return cores * PERIOD_MS;
}

/**
 * Whether both levels count the same pauses: the pod's count is near that of all containers together, or,
 * on one CPU, of one container.
 */
function samePauses({ podMs, sumMs, largestMs }: LevelMemory): boolean {
  return podMs > 0 && sumMs > 0 && (close(podMs, sumMs) || close(podMs, largestMs));
}

function close(a: number, b: number): boolean {
  return Math.abs(a - b) <= Math.max(SAME_SHARE * Math.max(a, b), PERIOD_MS);
}

/**
 * Shares of the pod's throttled time by usage, at most 1 in sum: the usage of containers without an interval
 * takes its share too. Without any usage, shares of the quotas.
 */
function portionsOf(containers: readonly ContainerInterval[], podUsageMs: number): number[] {
  const used = total(containers, ({ interval }) => interval.usageMs);
  const whole = Math.max(used, podUsageMs);
  if (whole > 0) return containers.map(({ interval }) => interval.usageMs / whole);
  const quotas = total(containers, ({ quota }) => quota ?? 0);
  return containers.map(({ quota }) => quotas === 0 ? 0 : (quota ?? 0) / quotas);
}

function total<T>(items: readonly T[], value: (item: T) => number): number {
  return items.reduce((sum, item) => sum + value(item), 0);
}

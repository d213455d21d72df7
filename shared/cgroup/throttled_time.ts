/**
 * The time for which a quota throttled containers, from the counters of two levels.
 *
 * The kubelet sets a quota on the container and, when all containers of the pod have limits, the sum on
 * the pod. The meaning of the two counters together depends on the kernel:
 *
 * - Some count most pauses at one of them, whichever ran out first. The truth is the sum, or less
 *   where they overlap. (Seen on 6.18: a loop held at 200 m for 75 s was throttled 17.9 s at its own
 *   level and 39.4 s at the pod's, of a true 59.8 s.)
 * - Others count the same pause at both. The truth is one of them. (Seen on 6.1: 45.97 and 45.99 s.)
 *
 * Growth within 5 % of each other means the second kind. A single interval does not suffice: a pause is
 * counted when it ends, the two levels end theirs by timers of different phase, and 250 ms hold only
 * two or three pauses, so equal levels differ by a third in many an interval (on the 6.1 recording,
 * deciding interval by interval makes 66 s of 46). So what is compared is the growth over the last
 * {@linkcode MEMORY_MS}, fading out, and one period of difference is always allowed.
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
  /** Room that the interval before left unused; 0 at first. @default {0} */
  readonly roomMs?: number;
}

/** One pod's intervals; the pod's own is missing where its level could not be read. */
export interface PodIntervals {
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
  /** To be handed in again with the next interval. */
  readonly roomMs: number;
}

/** A pod of which nothing is known yet. */
export const NO_LEVEL_MEMORY: LevelMemory = { podMs: 0, sumMs: 0, largestMs: 0 };

/** Time constant of the memory. 5 s to 30 s give the same results on the recordings. */
const MEMORY_MS = 10_000;
/** Growth of the two levels within this share of the larger is the same pauses. */
const SAME_SHARE = 0.05;
/** One enforcement period: the longest pause that is under way and not counted yet. */
const PERIOD_MS = 100;

/**
 * Takes one interval of a pod and returns the new memory and the containers' losses, in the order
 * given. No container lost more than n × Δt − what it used, with n the threads that wanted to run.
 * How many did is in no cgroup file; n is the smaller of `cores` and the threads that there are. So
 * the bound is exact for a single busy thread: Linux 6.18 counts its pauses partly at both levels, and
 * loose for a large pool of which few are busy. A pause is counted when it ends, so up to one period
 * of unused room is carried from one interval to the next.
 */
export function throttledTime(
  memory: LevelMemory,
  { pod, containers, cores }: PodIntervals,
): { memory: LevelMemory; containers: ThrottledTime[] } {
  const podMs = pod?.throttledMs ?? 0;
  const sumMs = total(containers, ({ interval }) => interval.throttledMs);
  const spanMs = pod?.intervalMs ?? containers[0]?.interval.intervalMs ?? 0;
  const old = fadeMemory(memory, spanMs);
  const largest = containers.reduce((most, c) => Math.max(most, c.interval.throttledMs), 0);
  const next = {
    podMs: old.podMs + podMs,
    sumMs: old.sumMs + sumMs,
    largestMs: old.largestMs + largest,
  };
  const same = samePauses(next);
  const portions = portionsOf(containers, pod?.usageMs ?? 0);
  const losses = containers.map(
    ({ interval, threads = cores, roomMs = 0 }, index): ThrottledTime => {
      const portion = portions[index] ?? 0;
      const fromPod = podMs * portion;
      // The same pauses: the containers' own counts, grown to the pod's where that is larger.
      const own = interval.throttledMs;
      // The container's part first: it is at most 1, while the growth of next to nothing is endless.
      const both = sumMs === 0 ? fromPod : Math.max(own, own / sumMs * podMs);
      const able = Math.min(cores, Math.max(1, threads));
      const ceilingMs = Math.max(0, able * interval.intervalMs - interval.usageMs) + roomMs;
      const throttledMs = Math.min(same ? both : own + fromPod, ceilingMs);
      const podPeriods = Math.round((pod?.throttledPeriods ?? 0) * portion);
      const periods = same
        ? Math.max(interval.throttledPeriods, podPeriods)
        : interval.throttledPeriods + podPeriods;
      return {
        throttledMs,
        roomMs: Math.min(able * PERIOD_MS, ceilingMs - throttledMs),
        throttledPeriods: Math.min(periods, Math.max(interval.periods, interval.throttledPeriods)),
      };
    },
  );
  return { memory: next, containers: losses };
}

/** The memory after a time in which neither level counted anything. */
export function fadeMemory(memory: LevelMemory, spanMs: number): LevelMemory {
  if (memory.podMs === 0 && memory.sumMs === 0) return memory;
  const kept = Math.exp(-spanMs / MEMORY_MS);
  return {
    podMs: memory.podMs * kept,
    sumMs: memory.sumMs * kept,
    largestMs: memory.largestMs * kept,
  };
}

/** Milliseconds of unused room that a container has left after an interval without throttling. */
export function roomAfterIdle(cores: number): number {
  return cores * PERIOD_MS;
}

/** Whether both levels count the same pauses: all containers' together, or, on one CPU, one's. */
function samePauses({ podMs, sumMs, largestMs }: LevelMemory): boolean {
  return podMs > 0 && sumMs > 0 && (close(podMs, sumMs) || close(podMs, largestMs));
}

function close(a: number, b: number): boolean {
  return Math.abs(a - b) <= Math.max(SAME_SHARE * Math.max(a, b), PERIOD_MS);
}

/**
 * Shares of the pod's time, at most 1 in sum. A container without a trustworthy interval keeps the
 * share that its use has in the pod's. Without any usage, quotas replace it.
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

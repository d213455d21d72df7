/**
 * Readings of a cgroup, the interval between two of them, and the samples that come of intervals.
 *
 * @module
 */
import type { CPUPressure, ThrottleCounters } from "./kernel_text.ts";

/** Counters since the cgroup was made; times in milliseconds. */
export interface Reading extends ThrottleCounters {
  /** Monotonic time of the reading. */
  readonly at: number;
  /** CPU time used. */
  readonly usageMs: number;
  /** Time in which some task waited for CPU (PSI); absent where not offered. */
  readonly pressureMs?: number;
}

/** Growth of the counters to the later reading, with its time; times in milliseconds. */
export interface Interval extends Reading {
  /** Above 0. */
  readonly intervalMs: number;
}

/** In a shorter interval, ms, the resolution of the counters would show. */
export const SHORTEST_INTERVAL_MS = 10;
/** Rates over a longer interval, ms, say little about the present. */
const LONGEST_INTERVAL_MS = 60_000;

/**
 * How much later than its time stamp a file may have been read: all files of a node have one time stamp,
 * and a garbage collection or a busy CPU delays the later reads.
 */
const STAMP_SLACK_MS = 20;

/**
 * The interval, or undefined when the two readings do not make a trustworthy one: the clock stood
 * or went back, too little or too much time lies between, a counter went back (the cgroup was made
 * anew), or more CPU was used than the node has (the clock jumped).
 */
export function intervalBetween(
  [earlier, later]: readonly [Reading, Reading],
  /** CPUs of the node: no cgroup uses more than all of them. */
  { cores }: { readonly cores: number },
): Interval | undefined {
  const intervalMs = later.at - earlier.at;
  if (!(intervalMs >= SHORTEST_INTERVAL_MS && intervalMs <= LONGEST_INTERVAL_MS)) return undefined;
  const usageMs = later.usageMs - earlier.usageMs;
  const periods = later.periods - earlier.periods;
  const throttledPeriods = later.throttledPeriods - earlier.throttledPeriods;
  const throttledMs = later.throttledMs - earlier.throttledMs;
  if (usageMs < 0 || periods < 0 || throttledPeriods < 0 || throttledMs < 0) return undefined;
  if (usageMs > cores * (intervalMs + STAMP_SLACK_MS)) return undefined;
  const grown = { at: later.at, intervalMs, usageMs, periods, throttledPeriods, throttledMs };
  if (later.pressureMs === undefined || earlier.pressureMs === undefined) return grown;
  const pressureMs = later.pressureMs - earlier.pressureMs;
  return pressureMs < 0 ? undefined : { ...grown, pressureMs };
}

/** A container over one interval. CPU in millicores, times in milliseconds. */
export interface ContainerSample {
  /** The hex id, without the runtime's scheme. */
  readonly containerID: string;
  /** Monotonic time of the later reading. */
  readonly at: number;
  readonly intervalMs: number;
  /** CPU time used / interval. */
  readonly usage: number;
  /** Time for which a quota kept runnable threads from running / interval: 1000 is one whole thread. */
  readonly throttledMsPerS: number;
  /** Enforcement periods in the interval, and periods in which the quota ran out. */
  readonly periods: number;
  readonly throttledPeriods: number;
  /** Share of the interval in which some task waited for CPU (PSI); absent where not offered. */
  readonly pressure?: number;
  /** CPU request, as the cgroup's weight has it; absent when that is unreadable. */
  readonly request?: number;
  /** Set when its usage came near its quota in this interval. */
  readonly nearsQuota?: true;
  /** The container's quota now; absent when it has none. */
  readonly quota?: number;
}

/** PSI of the node and of its pods by UID; a cgroup that offers none is missing. */
export interface NodePressure {
  readonly node?: CPUPressure;
  readonly pods: ReadonlyMap<string, CPUPressure>;
}

/** CPU of the whole node. Millicores. */
export interface NodeCPU {
  /** The CPUs that containers share: all, less those that a static CPU manager gave away. */
  readonly shared: number;
  /**
   * Shared CPU that no process uses, or only pods that give way to requests: a fading mean with a time
   * constant of 1 s.
   */
  readonly idle: number;
  /** As `idle`, with a time constant of 0.4 s. */
  readonly idle400ms: number;
  /** Usage by processes outside of the market that do not give way: P95 over 5 minutes. */
  readonly unmanagedUsage: number;
}

/** A sample of a whole node. */
export interface NodeSample {
  /** By hex container id. A container without two good readings is missing, never wrong. */
  readonly containers: ReadonlyMap<string, ContainerSample>;
  /** CPU that the market may not share because others hold it. */
  readonly unmanaged: number;
  /** Absent where the kernel does not count what the node uses. */
  readonly node?: NodeCPU;
}

/** A container that uses a larger share of its quota may be throttled before the next sample. */
const BUSY_SHARE = 0.8;

/**
 * True for a container that is close to its quota, or just came near it: a burst that begins late in an
 * interval shows little in its usage. False without a quota.
 */
export function isBusy({ usage, nearsQuota, quota = Infinity }: ContainerSample): boolean {
  return nearsQuota === true || usage > BUSY_SHARE * quota;
}

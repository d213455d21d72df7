/**
 * Growth of one cgroup's counters between two readings.
 *
 * @module
 */
import type { ThrottleCounters } from "./kernel_text.ts";

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

/** Below this, ms, the counters' own grain dominates. */
export const SHORTEST_INTERVAL_MS = 10;
/** Above this, ms, the rates no longer hold. */
const LONGEST_INTERVAL_MS = 60_000;

/**
 * How far the instant of a reading may be from the one it carries: all files of a node are read
 * under one time stamp, and a garbage collection or a busy CPU delays the later ones.
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

/**
 * What the files of one cgroup said at one instant.
 *
 * @module
 */
import type { ThrottleCounters } from "./cpu_stat.ts";

/** Counters since the cgroup was made; times in milliseconds. */
export interface Reading extends ThrottleCounters {
  /** Monotonic time of the look. */
  readonly at: number;
  /** CPU time used. */
  readonly usageMs: number;
  /** Time in which some task waited for CPU (PSI); absent where not offered. */
  readonly pressureMs?: number;
}

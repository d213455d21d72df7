/**
 * CPU of the node that no process uses.
 *
 * @module
 */
import { intervalBetween, type NodeCPU } from "../../shared/cgroup/sample.ts";

/** Time constant of the mean, ms: that of the usage by which CPU counts as scarce. */
const MEAN_MS = 1000;

/** Takes a reading of the CPU time that all processes have used, ms, at the monotonic time `at`, ms. */
export type IdleCPU = (at: number, usedMs: number | undefined) => NodeCPU | undefined;

/** Gives the node's CPU once two readings are there, and none where the kernel does not count it. */
export function createIdleCPU({ cores }: { readonly cores: number }): IdleCPU {
  const total = 1000 * cores;
  let before: { readonly at: number; readonly usageMs: number } | undefined;
  let idle: number | undefined;
  return (at, usageMs) => {
    if (usageMs === undefined) return undefined;
    const now = { at, usageMs, periods: 0, throttledPeriods: 0, throttledMs: 0 };
    const interval = before && intervalBetween([{ ...now, ...before }, now], { cores });
    before = { at, usageMs };
    if (interval !== undefined) {
      const { intervalMs } = interval;
      const unused = Math.max(0, total - 1000 * interval.usageMs / intervalMs);
      idle = unused + ((idle ?? unused) - unused) * Math.exp(-intervalMs / MEAN_MS);
    }
    return idle === undefined ? undefined : { total, idle };
  };
}

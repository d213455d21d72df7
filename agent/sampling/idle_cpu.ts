/**
 * CPU of the node that no process uses.
 *
 * @module
 */
import { intervalBetween, type NodeCPU } from "../../shared/cgroup/sample.ts";

/** Time constant of the mean, ms: that of the usage by which CPU counts as scarce. */
const MEAN_MS = 1000;

/** A reading of the node. */
export interface NodeReading {
  /** Monotonic milliseconds. */
  readonly at: number;
  /** CPU time that all processes have used; absent where the kernel does not count it. */
  readonly usedMs: number | undefined;
  /** CPUs that containers share: those of the node, less what a static CPU manager gave away. */
  readonly cores: number;
}

/**
 * Returns a function that takes each reading and gives the node's CPU once there are two. What a
 * container uses of CPUs of its own counts as use of the shared ones: the rest is certain to be idle.
 */
export function createIdleCPU(
  { cores: all }: { readonly cores: number },
): (reading: NodeReading) => NodeCPU | undefined {
  let before: { readonly at: number; readonly usageMs: number } | undefined;
  let idle: number | undefined;
  return ({ at, usedMs: usageMs, cores }) => {
    if (usageMs === undefined) return undefined;
    const shared = 1000 * cores;
    const now = { at, usageMs, periods: 0, throttledPeriods: 0, throttledMs: 0 };
    const interval = before && intervalBetween([{ ...now, ...before }, now], { cores: all });
    before = { at, usageMs };
    if (interval !== undefined) {
      const { intervalMs } = interval;
      const unused = Math.max(0, shared - 1000 * interval.usageMs / intervalMs);
      idle = unused + ((idle ?? unused) - unused) * Math.exp(-intervalMs / MEAN_MS);
    }
    return idle === undefined ? undefined : { shared, idle };
  };
}

/** How often the number of CPUs that containers share is read, ms. */
const SHARED_CPUS_MS = 1000;

/** CPUs that containers share at the monotonic time `at`, ms: what `read` finds, or all of the node. */
export function createSharedCPUs(
  { cores, read }: {
    readonly cores: number;
    readonly read: (managed: ReadonlySet<string>) => number | undefined;
  },
): (at: number, managed: ReadonlySet<string>) => number {
  let last = { at: -Infinity, cores };
  return (at, managed) => {
    if (at - last.at >= SHARED_CPUS_MS) last = { at, cores: read(managed) ?? cores };
    return last.cores;
  };
}

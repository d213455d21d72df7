/**
 * CPU of the node that no process uses, and that processes outside of pods use.
 *
 * @module
 */
import { type ContainerSample, intervalBetween, type NodeCPU } from "../../shared/cgroup/sample.ts";

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
  /** Those of all pods. */
  readonly containers: ReadonlyMap<string, Pick<ContainerSample, "usage">>;
}

/**
 * A smaller share of the node outside of pods is covered by the reserve, and within the error of readings
 * at different moments.
 */
const LEAST_SYSTEM = 0.05;

/**
 * Returns a function that takes each reading and gives the node's CPU once there are two. What a
 * container uses of CPUs of its own counts as use of the shared ones: the rest is certain to be idle.
 */
export function createIdleCPU(
  { cores: all }: { readonly cores: number },
): (reading: NodeReading) => NodeCPU | undefined {
  let before: { readonly at: number; readonly usageMs: number } | undefined;
  let mean: { readonly idle: number; readonly system: number } | undefined;
  return ({ at, usedMs: usageMs, cores, containers }) => {
    if (usageMs === undefined) return undefined;
    const [total, shared] = [1000 * all, 1000 * cores];
    const now = { at, usageMs, periods: 0, throttledPeriods: 0, throttledMs: 0 };
    const interval = before && intervalBetween([{ ...now, ...before }, now], { cores: all });
    before = { at, usageMs };
    if (interval !== undefined) {
      const inPods = containers.values().reduce((sum, { usage }) => sum + usage, 0);
      const used = 1000 * interval.usageMs / interval.intervalMs;
      const latest = { idle: Math.max(0, shared - used), system: used - inPods };
      const kept = Math.exp(-interval.intervalMs / MEAN_MS);
      const past = mean ?? latest;
      mean = {
        idle: latest.idle + (past.idle - latest.idle) * kept,
        system: latest.system + (past.system - latest.system) * kept,
      };
    }
    if (mean === undefined) return undefined;
    const { idle, system } = mean;
    return { total, shared, idle, system: system < LEAST_SYSTEM * total ? 0 : system };
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

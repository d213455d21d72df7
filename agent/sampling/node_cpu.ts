/**
 * The whole node's CPU usage, and CPUs that containers share.
 *
 * @module
 */
import { type NodeCPU, SHORTEST_INTERVAL_MS } from "../../shared/cgroup/sample.ts";
import { createUsageWindow } from "../../shared/cgroup/usage_window.ts";
import { fadingMean } from "../../shared/fading_mean.ts";

/** Time constant of `idle`, ms: the same as of the usage that decides whether CPU is scarce. */
const MEAN_MS = 1000;
/** Time constant of `idle400ms`: the same as of the usage that shows whether a container waits. */
const SHORT_MEAN_MS = 400;
/** Time constant of unmanaged usage, ms. Pods and node are read at different moments: 1 s would be too noisy. */
const UNMANAGED_MS = 5000;

/** A reading of the node. CPU in millicores. */
export interface NodeReading {
  /** Monotonic milliseconds. */
  readonly at: number;
  /** CPU time that all processes have used, ms; undefined where the kernel does not count it. */
  readonly usedMs: number | undefined;
  /** CPUs that containers share: all, less those that a static CPU manager gave away. */
  readonly cores: number;
  /** Usage of the market's containers. */
  readonly managed: number;
  /** Usage of pods outside of the market that gives way to requests. */
  readonly yielding: number;
}

/**
 * Returns a function that takes each reading and returns the node's CPU from the second reading on. Usage of
 * exclusive CPUs counts as usage of shared ones, so that `idle` is never too high.
 */
export function createNodeCPU(): (reading: NodeReading) => NodeCPU | undefined {
  let before: { readonly at: number; readonly usedMs: number } | undefined;
  /** May be below 0 for a moment: pods and node are not read at the same time. */
  let idle: number | undefined;
  let idle400ms: number | undefined;
  let unmanaged: number | undefined;
  let unmanagedMs = 0;
  const window = createUsageWindow();
  return ({ at, usedMs, cores, managed, yielding }) => {
    if (usedMs === undefined) {
      before = idle = idle400ms = undefined;
      return undefined;
    }
    const shared = 1000 * cores;
    const intervalMs = at - (before?.at ?? at);
    const grown = usedMs - (before?.usedMs ?? usedMs);
    const isNew = before === undefined || intervalMs < 0 || grown < 0;
    const isInterval = !isNew && intervalMs >= SHORTEST_INTERVAL_MS;
    if (isNew || isInterval) before = { at, usedMs };
    if (isInterval) {
      const used = 1000 * grown / intervalMs;
      // No more than all CPUs can be in use, whatever a counter says.
      const unused = Math.max(-shared, shared - used + yielding);
      idle = fadingMean(idle, unused, { intervalMs, constantMs: MEAN_MS });
      idle400ms = fadingMean(idle400ms, unused, { intervalMs, constantMs: SHORT_MEAN_MS });
      unmanaged = fadingMean(unmanaged, used - managed - yielding, {
        intervalMs,
        constantMs: UNMANAGED_MS,
      });
      unmanagedMs += Math.max(0, unmanaged) * intervalMs / 1000;
    }
    window.add(at, unmanagedMs);
    if (idle === undefined || idle400ms === undefined) return undefined;
    return {
      shared,
      idle: Math.max(0, idle),
      idle400ms: Math.max(0, idle400ms),
      unmanagedUsage: window.percentile(),
    };
  };
}

/** How often the number of CPUs that containers share is read, ms. */
const SHARED_CPUS_MS = 1000;

/** CPUs that containers share at the monotonic time `at`, ms: the result of `read`, or all of the node. */
export function createSharedCPUs(
  { cores, read }: { readonly cores: number; readonly read: () => number | undefined },
): (at: number) => number {
  let last = { at: -Infinity, cores };
  return (at) => {
    if (at - last.at >= SHARED_CPUS_MS) last = { at, cores: Math.min(cores, read() ?? cores) };
    return last.cores;
  };
}

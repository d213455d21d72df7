/**
 * The whole node's CPU usage, and CPUs that containers share.
 *
 * @module
 */
import { type NodeCPU, SHORTEST_INTERVAL_MS } from "../../shared/cgroup/sample.ts";
import { createUsageWindow } from "../../shared/cgroup/usage_window.ts";
import { fadingMean } from "../../shared/fading_mean.ts";

/** Time constant of the mean, ms: that of the usage by which CPU counts as scarce. */
const MEAN_MS = 1000;
/** That of the usage by which a container seems to wait on a full node, ms. */
const SHORT_MEAN_MS = 400;
/** That of what others use, ms: readings at different moments make one of a second uncertain. */
const OTHERS_MS = 5000;

/** A reading of the node. CPU in millicores. */
export interface NodeReading {
  /** Monotonic milliseconds. */
  readonly at: number;
  /** CPU time that all processes have used, ms; absent where the kernel does not count it. */
  readonly usedMs: number | undefined;
  /** CPUs that containers share: those of the node, less what a static CPU manager gave away. */
  readonly cores: number;
  /** Usage of the market's containers. */
  readonly managed: number;
  /** Usage of pods outside of the market that gives way to requests. */
  readonly yielding: number;
}

/**
 * Returns a function that takes each reading and gives the node's CPU once there are two. Use of CPUs
 * that containers do not share counts as use of the shared ones: the rest is certain to be idle.
 */
export function createNodeCPU(): (reading: NodeReading) => NodeCPU | undefined {
  let before: { readonly at: number; readonly usedMs: number } | undefined;
  /** It may be below 0 for a moment: pods are not read at the same time as the node. */
  let idle: number | undefined;
  let idle400ms: number | undefined;
  let others: number | undefined;
  let othersMs = 0;
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
      others = fadingMean(others, used - managed - yielding, { intervalMs, constantMs: OTHERS_MS });
      othersMs += Math.max(0, others) * intervalMs / 1000;
    }
    window.add(at, othersMs);
    if (idle === undefined || idle400ms === undefined) return undefined;
    return {
      shared,
      idle: Math.max(0, idle),
      idle400ms: Math.max(0, idle400ms),
      others: window.percentile(),
    };
  };
}

/** How often the number of CPUs that containers share is read, ms. */
const SHARED_CPUS_MS = 1000;

/** CPUs that containers share at the monotonic time `at`, ms: what `read` finds, or all of the node. */
export function createSharedCPUs(
  { cores, read }: { readonly cores: number; readonly read: () => number | undefined },
): (at: number) => number {
  let last = { at: -Infinity, cores };
  return (at) => {
    if (at - last.at >= SHARED_CPUS_MS) last = { at, cores: Math.min(cores, read() ?? cores) };
    return last.cores;
  };
}

/**
 * What a container already holds of the node's CPU.
 *
 * @module
 */
import { grantable, type PaceOptions } from "./pace_options.ts";
import type { PacedContainer } from "./paced_container.ts";

/** Millicores of what raises may commit that no container holds; negative when more is held. */
export function freeCPU(
  containers: readonly PacedContainer[],
  { now, capacity, options }: { now: number; capacity: number; options: PaceOptions },
): number {
  let free = grantable(capacity, options);
  for (const container of containers) free -= committed(container, now);
  return free;
}

/** Millicores a container counts with if its highest limit is `limit`. */
export function committedAt(container: PacedContainer, limit: number): number {
  return limit > container.floor ? limit : container.least;
}

/**
 * Millicores that a container counts with now: the highest of the limit decided, those of the last
 * two seconds and the quota in its cgroup, if that exceeds its floor; otherwise what its bid's
 * floor says. A lowered limit is free only once it can no longer be in force.
 */
export function committed(container: PacedContainer, now: number): number {
  const { memory, quota = 0 } = container;
  let highest = Math.max(memory.limit, quota);
  if (!hasArrived(container, now)) {
    for (const past of memory.recent) {
      if (past.until > now) highest = Math.max(highest, past.limit);
    }
  }
  return committedAt(container, highest);
}

/**
 * Whether the quota shows that the limit is in force. Only a single change tells: of two in short
 * order the first may come into force after a quota that looks like the second.
 */
function hasArrived({ memory, quota }: PacedContainer, now: number): boolean {
  if (quota === undefined || quota > memory.limit) return false;
  return memory.recent.reduce((count, { until }) => count + (until > now ? 1 : 0), 0) === 1;
}

/**
 * A decrease that comes from the container's own lower demand.
 *
 * @module
 */
import type { PaceOptions } from "./pace_options.ts";
import type { PacedContainer, PaceMemory } from "./paced_container.ts";

/**
 * Follows a target that is clearly below the limit. Returns what to remember, and the limit to go
 * to once the target has stayed below for the whole wait: the highest target of that time, in one
 * step, so that a drop of any size settles in one change.
 */
export function followLowerTarget(
  container: PacedContainer,
  now: number,
  options: PaceOptions,
): { lower: PaceMemory["lower"]; limit?: number } {
  const { memory, target } = container;
  if (target >= memory.limit * (1 - options.lowerHysteresis)) return { lower: undefined };
  const lower = {
    since: memory.lower?.since ?? now,
    highest: Math.max(memory.lower?.highest ?? 0, target),
  };
  const waited = now - lower.since >= options.lowerWaitMs;
  const warm = now - memory.since >= options.warmUpMs;
  return waited && warm ? { lower, limit: lower.highest } : { lower };
}

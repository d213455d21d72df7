/**
 * Who gives back CPU so that others can be raised.
 *
 * @module
 */
import type { PaceOptions } from "./pace_options.ts";
import type { PacedContainer } from "./paced_container.ts";

/** Millicores by which a container's limit exceeds what the clearing gives it. */
function surplus(container: PacedContainer): number {
  return container.memory.limit - container.share;
}

/**
 * Indices of the containers that are lowered to their shares so that at least `shortage` millicores
 * become free, the largest surplus first: few containers are touched. One that is warming up, or
 * paid less than `fundingGapMs` ago, is left out, so the shortage may remain.
 */
export function chooseFunders(
  containers: readonly PacedContainer[],
  shortage: number,
  { now, options }: { now: number; options: PaceOptions },
): number[] {
  const able = containers
    .map((container, index) => ({ container, index }))
    .filter(({ container }) =>
      surplus(container) > 0 &&
      now - container.memory.since >= options.warmUpMs &&
      now - container.memory.fundedAt >= options.fundingGapMs
    )
    .sort((a, b) => surplus(b.container) - surplus(a.container) || a.index - b.index);
  const chosen: number[] = [];
  let missing = shortage;
  for (const { container, index } of able) {
    if (missing <= 0) break;
    chosen.push(index);
    missing -= surplus(container);
  }
  return chosen;
}

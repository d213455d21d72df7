/**
 * Who gives back CPU so that others can be raised.
 *
 * @module
 */
import { GRID } from "../market/rounding.ts";
import type { PaceOptions } from "./pace_options.ts";
import type { PacedContainer } from "./paced_container.ts";
import { rationedHysteresis } from "./rationed_hysteresis.ts";

/** One container's part: its place in the list, and the limit it goes to. */
export interface Payment {
  readonly place: number;
  /** Millicores. */
  readonly limit: number;
}

/** Millicores by which a container's limit exceeds what the clearing gives it. */
function surplus(container: PacedContainer): number {
  return container.memory.limit - container.share;
}

/**
 * The containers that are lowered towards their shares so that `shortage` millicores become free,
 * the largest surplus first: few are touched. Each gives what is missing, at least a hysteresis of
 * its limit (less would not be worth a change) and at most its surplus. One that is warming up, or
 * paid less than `fundingGapMs` ago, is left out, so some of the shortage may remain; so is one with a
 * surplus of one step of the grid, which rounding may give back the next moment.
 */
export function fundRaises(
  containers: readonly PacedContainer[],
  shortage: number,
  { now, options }: { now: number; options: PaceOptions },
): Payment[] {
  const leastSurplus = (container: PacedContainer): number =>
    container.memory.limit * rationedHysteresis(container, options.lowerHysteresis, { now });
  const able = containers
    .map((container, place) => ({ container, place }))
    .filter(({ container }) =>
      surplus(container) > Math.max(leastSurplus(container), GRID) &&
      now - container.memory.since >= options.warmUpMs &&
      now - container.memory.fundedAt >= options.fundingGapMs
    )
    .sort((a, b) => surplus(b.container) - surplus(a.container) || a.place - b.place);
  const payments: Payment[] = [];
  let missing = shortage;
  for (const { container, place } of able) {
    if (missing <= 0) break;
    const { limit } = container.memory;
    const least = limit * options.lowerHysteresis;
    const paid = Math.ceil(Math.min(surplus(container), Math.max(missing, least)) / GRID) * GRID;
    payments.push({ place, limit: Math.max(container.share, limit - paid) });
    missing -= paid;
  }
  return payments;
}

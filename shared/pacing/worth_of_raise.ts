/**
 * Which raises are worth a change of a limit.
 *
 * @module
 */
import { GRID } from "../market/rounding.ts";
import type { PaceOptions } from "./pace_options.ts";
import type { PacedContainer } from "./paced_container.ts";
import { rationedHysteresis } from "./rationed_hysteresis.ts";

/** A container held back by more than this share of its limit counts as throttled. */
const THROTTLED_SHARE = 0.01;

/**
 * Whether a raise to `limit`, millicores, relieves enough for others to pay for it. Rounding gives a
 * step of the grid now to one and now to another: no container that is rationed is raised for that.
 */
export function isLargeRaise(
  container: Pick<PacedContainer, "memory" | "share" | "need">,
  limit: number,
  { now, options }: { readonly now: number; readonly options: PaceOptions },
): boolean {
  const present = container.memory.limit;
  const { raiseHysteresis } = options;
  const hysteresis = rationedHysteresis(container, raiseHysteresis, { now });
  return limit > present * (1 + hysteresis) &&
    (hysteresis === raiseHysteresis || limit > present + GRID);
}

/**
 * Whether the clearing gives a throttled container all that its ceiling allows, however little more
 * that is. A first raise may end shortly below the ceiling; within the hysteresis no other would
 * follow while the container is busy. It is given from what is free only, so that it makes nobody
 * pay.
 */
export function isLastRaise(
  { memory, share, ceiling, heldBack }: Pick<
    PacedContainer,
    "memory" | "share" | "ceiling" | "heldBack"
  >,
): boolean {
  return share > memory.limit && share > ceiling - GRID && isThrottled({ memory, heldBack });
}

/** Whether time held back counts, against the limit. */
export function isThrottled(
  { memory, heldBack }: Pick<PacedContainer, "memory" | "heldBack">,
): boolean {
  return heldBack > memory.limit * THROTTLED_SHARE;
}

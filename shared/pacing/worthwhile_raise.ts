/**
 * Which raises are worth a change of a limit.
 *
 * @module
 */
import { GRID } from "../market/rounding.ts";
import type { PaceOptions } from "./pace_options.ts";
import type { PacedContainer } from "./paced_container.ts";

/** The part of a container that the answer depends on. */
export type RaisedContainer = Pick<PacedContainer, "memory" | "ceiling" | "heldBack">;

/** A container held back by more than this share of its limit counts as throttled. */
const THROTTLED_SHARE = 0.01;

/**
 * Whether a raise to `limit`, millicores, relieves enough: it is larger than the hysteresis, or it
 * gives a throttled container all that its ceiling allows. Without the second a container whose
 * first raise ended shortly under its ceiling would stay throttled for as long as it is busy; it
 * can't make limits change often, since no raise follows it.
 */
export function isWorthwhile(
  container: RaisedContainer,
  limit: number,
  { raiseHysteresis }: Pick<PaceOptions, "raiseHysteresis">,
): boolean {
  const { memory, ceiling } = container;
  if (limit > memory.limit * (1 + raiseHysteresis)) return true;
  return limit > memory.limit && limit > ceiling - GRID && isThrottled(container);
}

/** Whether time held back counts, against the limit. */
export function isThrottled(
  { memory, heldBack }: Pick<PacedContainer, "memory" | "heldBack">,
): boolean {
  return heldBack > memory.limit * THROTTLED_SHARE;
}

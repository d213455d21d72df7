/**
 * Where the limit goes that answers a burst: `up` its own, `down` that of a neighbour.
 *
 * @module
 */

/** Larger or smaller. */
export type Direction = "up" | "down";

/** Whether a limit has gone from one value to another in this direction. */
export function hasMoved(
  direction: Direction,
  { from, to }: { readonly from: number; readonly to: number },
): boolean {
  return direction === "up" ? to > from : to < from;
}

/**
 * Which containers are looked at more often.
 *
 * @module
 */
import type { ContainerSample } from "./sample.ts";

/** A container that uses more of its quota than this may run into it before the next look. */
const BUSY_SHARE = 0.8;

/**
 * True for a container that is close to its quota, or that seems to be on its way there: of a burst
 * that begins late in an interval the usage in it shows little. One without a quota never is.
 */
export function isBusy({ usage, rising, quota = Infinity }: ContainerSample): boolean {
  return rising === true || usage > BUSY_SHARE * quota;
}

/**
 * Which containers are looked at more often.
 *
 * @module
 */
import type { ContainerSample } from "./sample.ts";

/** A container that uses more of its quota than this may run into it before the next look. */
const BUSY_SHARE = 0.8;

/** True for a container that is close to its quota; one without a quota never is. */
export function isBusy({ usage, quota = Infinity }: ContainerSample): boolean {
  return usage > BUSY_SHARE * quota;
}

/**
 * Random hexadecimal digits, for UIDs and container IDs.
 *
 * @module
 */
import type { Random } from "../../../shared/random.ts";

/** `length` digits of 0-9 and a-f. */
export function randomHex(random: Random, length: number): string {
  return Array.from({ length }, () => Math.floor(random.next() * 16).toString(16)).join("");
}

/**
 * The version of all programs.
 *
 * @module
 */

/** The version in `deno.json`; a test compares the two. */
export const VERSION = "0.1.0";

/** The header `User-Agent` of a program's requests. */
export function userAgent(program: string): string {
  return `coallocator-${program}/${VERSION}`;
}

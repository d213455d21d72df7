/**
 * The program's version.
 *
 * @module
 */

/** That of `deno.json`; a test compares the two. */
export const VERSION = "0.1.0";

/**
 * The version of all programs.
 *
 * @module
 */

/** That of `deno.json`; a test compares the two. */
export const VERSION = "0.1.0";

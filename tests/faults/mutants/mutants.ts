/**
 * The bugs that the fault simulator must find, in the proportions that real controllers have them:
 * half act on stale views, a quarter lose something in a crash, a fifth miss events (Sieve, OSDI 2022).
 *
 * @module
 */
import type { Mutant } from "./mutant.ts";

/** All of them. */
export const MUTANTS: readonly Mutant[] = [];

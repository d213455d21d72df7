/**
 * The bugs that the fault simulator must find, in the proportions that real controllers have them: half
 * act on stale views, a quarter lose something in a crash, a fifth miss events (Sieve, OSDI 2022).
 *
 * @module
 */
import { LOST_IN_A_CRASH } from "./lost_in_a_crash.ts";
import { MISSED_EVENTS } from "./missed_events.ts";
import type { Mutant } from "./mutant.ts";
import { STALE_VIEWS } from "./stale_views.ts";

/** Each with the text that it replaces. */
const BROKEN_RULES: readonly Mutant[] = [
  {
    name: "an eviction breaks the floor of on-demand replicas",
    kind: "rule",
    file: "shared/placement/split.ts",
    from: "Math.max(0, Math.min(shared, replicas - minOnDemand))",
    to: "replicas",
  },
];

/** All of them. */
export const MUTANTS: readonly Mutant[] = [
  ...STALE_VIEWS,
  ...LOST_IN_A_CRASH,
  ...MISSED_EVENTS,
  ...BROKEN_RULES,
];

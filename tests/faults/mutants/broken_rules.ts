/**
 * Mutants that break a rule of the product.
 *
 * @module
 */
import type { Mutant } from "./mutant.ts";

/** Each with the text that it replaces. */
export const BROKEN_RULES: readonly Mutant[] = [
  {
    name: "an eviction breaks the floor of on-demand replicas",
    kind: "rule",
    file: "shared/placement/split.ts",
    from: "Math.max(0, Math.min(shared, replicas - minOnDemand))",
    to: "replicas",
  },
];

/**
 * Several estimates at once.
 *
 * @module
 */
import type { DemandRule } from "./signal.ts";

/** The largest of what the rules say: each sees one way in which a container may need more. */
export function largestOf(...rules: readonly DemandRule[]): DemandRule {
  return (signal) => rules.reduce((most, rule) => Math.max(most, rule(signal)), 0);
}

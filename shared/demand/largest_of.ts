/**
 * Several estimates at once.
 *
 * @module
 */
import type { DemandRule } from "./signal.ts";

/** The largest of what the rules say: each sees one way in which a container may need more. */
export function largestOf(...rules: readonly DemandRule[]): DemandRule {
  return (signal) => {
    let most = 0;
    for (let i = 0; i < rules.length; i++) most = Math.max(most, rules[i]?.(signal) ?? 0);
    return most;
  };
}

/**
 * Room above an estimate.
 *
 * @module
 */
import type { DemandRule } from "./signal.ts";

/** The rule's demand × `factor`, so that small growth needs no change of the limit. */
export function withMargin(rule: DemandRule, factor: number): DemandRule {
  if (!(factor >= 1 && factor < Infinity)) {
    throw new RangeError(`Cannot add a margin: factor is ${factor}, expected at least 1`);
  }
  return (signal) => rule(signal) * factor;
}

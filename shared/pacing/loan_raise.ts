/**
 * A raise that nobody needs yet: idle CPU lent to a container.
 *
 * @module
 */
import type { PaceOptions } from "./pace_options.ts";
import type { PacedContainer, PaceMemory } from "./paced_container.ts";

/**
 * Follows a target that is clearly above the limit only because idle CPU is lent. Returns what to
 * remember, and the limit to go to once the loan has been on offer for the whole wait: the lowest
 * target of that time.
 */
export function followLoan(
  container: PacedContainer,
  now: number,
  options: PaceOptions,
): { loan: PaceMemory["loan"]; limit?: number } {
  const { memory, target } = container;
  if (target <= memory.limit * (1 + options.lowerHysteresis)) return { loan: undefined };
  const loan = {
    since: memory.loan?.since ?? now,
    lowest: Math.min(memory.loan?.lowest ?? Infinity, target),
  };
  return now - loan.since >= options.loanWaitMs ? { loan, limit: loan.lowest } : { loan };
}

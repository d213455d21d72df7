/**
 * Credits: the memory that makes the market fair over time. A clearing by itself favours the steady
 * over the bursty; a bidder that leaves its part to others earns weight for its next burst (the idea
 * is Karma's: Vuppalapati et al., "Karma: Resource Allocation for Dynamic Demands", OSDI 2023).
 *
 * Karma counts credits without bound. Here they fade and are bounded, so that a bidder that was idle
 * for a week cannot starve a node, and the state is one number that survives a restart:
 *
 * - given = the part of the entitlement that was not needed, 0 to 1;
 * - taken = what the share had above the entitlement, as a part of it, 0 to 1;
 * - log2(credit) moves towards given − taken, half of the way in each half-life.
 *
 * With neither it moves towards 0, that is the credit towards 1.
 *
 * @module
 */

/** Bounds of a credit: it makes at most a factor of 4 between two bidders. */
export const CREDIT_BOUNDS = { least: 0.5, most: 2 };

/** Longer than a burst, shorter than a lasting change of load. */
export const CREDIT_HALF_LIFE_MS = 300_000;

/** Share and need of a bidder over one interval. */
export interface CreditStep {
  /** Millicores. */
  readonly share: number;
  /** Millicores. */
  readonly need: number;
  /** Millicores that it would get if every bidder needed more than that. */
  readonly entitlement: number;
  readonly intervalMs: number;
}

/**
 * The credit after an interval, within {@linkcode CREDIT_BOUNDS}. It never falls with a higher
 * credit before or a higher entitlement, never rises with more need or a larger share, and two
 * intervals in a row give what one of their length gives. A credit beyond the bounds counts as the
 * bound.
 *
 * Worked values from 1, entitlement 1000 m, after one half-life: need 0 → √2 = 1.41; need 500 m →
 * 1.19; need and share 1500 m → 0.84; need 1500 m and share 1000 m → 1. And from 2 with the last:
 * 1.41.
 */
export function creditAfter(
  credit: number,
  { share, need, entitlement, intervalMs }: CreditStep,
): number {
  const given = entitlement > 0 ? Math.max(0, 1 - need / entitlement) : 0;
  const taken = share > entitlement ? Math.min(1, (share - entitlement) / entitlement) : 0;
  const target = given - taken;
  const before = Math.log2(boundedCredit(credit));
  const kept = 2 ** (-intervalMs / CREDIT_HALF_LIFE_MS);
  return boundedCredit(2 ** (target + (before - target) * kept));
}

/** The credit within {@linkcode CREDIT_BOUNDS}. */
export function boundedCredit(credit: number): number {
  return Math.max(CREDIT_BOUNDS.least, Math.min(credit, CREDIT_BOUNDS.most));
}

/**
 * Lending of idle CPU above what containers need: it costs nobody anything, and a burst that finds
 * its limit raised already waits for nothing.
 *
 * @module
 */
import { clearMarket } from "./solver.ts";

/** A container that may borrow. CPU in millicores, all finite and at least 0; weight above 0. */
export interface Borrower {
  /** What it has without a loan. */
  readonly share: number;
  /** The user's own limit: loans fill up to it first, so that an idle node throttles nobody below. */
  readonly ownLimit: number;
  /** Share and loan together never exceed it. */
  readonly ceiling: number;
  readonly weight: number;
}

/**
 * Loans in millicores, on top of the shares, in the order of the borrowers. First everybody is
 * filled up to the own limit, then up to the ceiling; where `idle` is not enough for a stage it is
 * divided by weight, as fairly as a clearing divides capacity. The sum never exceeds `idle`
 * (millicores; below 0 counts as 0), up to rounding in the twelfth digit.
 *
 * The caller leaves out of `idle` what must never be lent, a tenth of the capacity. Throws a
 * `RangeError` with index and value when a borrower breaks its rule.
 */
export function lendSlack(borrowers: readonly Borrower[], idle: number): Float64Array {
  const gaps = borrowers.map(({ share, ownLimit, ceiling }) =>
    Math.max(0, Math.min(ownLimit, ceiling) - share)
  );
  const loans = fill(borrowers, gaps, idle);
  const left = idle - loans.reduce((sum, loan) => sum + loan, 0);
  // A stage that did not fill every gap has used up the idle CPU; a rest would be rounding.
  if (!(left > 0) || gaps.some((gap, index) => (loans[index] as number) < gap)) return loans;
  const further = borrowers.map(({ share, ceiling }, index) =>
    Math.max(0, ceiling - share - (gaps[index] as number))
  );
  const more = fill(borrowers, further, left);
  return loans.map((loan, index) => loan + (more[index] as number));
}

/** `amount` divided by weight, at most the gap for each. */
function fill(
  borrowers: readonly Borrower[],
  gaps: readonly number[],
  amount: number,
): Float64Array {
  const bids = borrowers.map(({ weight }, index) => {
    const gap = gaps[index] as number;
    return { weight, floor: 0, ceiling: gap, demand: gap };
  });
  return clearMarket(bids, Math.max(0, amount)).shares;
}

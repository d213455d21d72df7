/**
 * Moves that don't help: the pod comes back on the class it had, for instance while nobody answers for
 * new pods. To repeat them at the usual pace would disturb a workload for nothing.
 *
 * @module
 */
import type { SplitSpec } from "./split.ts";

/** What is known of the last move. */
export interface IneffectiveMoves {
  /** Moves in a row before it that had not helped. */
  readonly count: number;
  /** Replicas that were misplaced before it, see `misplacedCount()`. */
  readonly misplaced: number;
  /** What was wished then: another wish misplaces others. */
  readonly wish: SplitSpec;
}

/** What is seen now. */
export type MisplacedNow = Pick<IneffectiveMoves, "misplaced" | "wish">;

/** The longest that doubling leads to, ms: so long it may take until a webhook that is back is noticed. */
const LONGEST_MS = 180_000;

/** Moves in a row up to the last one that have not helped. */
export function ineffectiveMoveCount(
  last: IneffectiveMoves | undefined,
  { misplaced, wish }: MisplacedNow,
): number {
  if (last === undefined || misplaced < last.misplaced) return 0;
  const isSameWish = wish.spotPercentage === last.wish.spotPercentage &&
    wish.minOnDemand === last.wish.minOnDemand;
  return isSameWish ? last.count + 1 : 0;
}

/** The time between two moves: `cooldownMs`, twice as long after each that was in vain, up to 3 min. */
export function cooldownAfter(inVain: number, cooldownMs: number): number {
  // 2^1000 is still finite.
  const doubled = cooldownMs * 2 ** Math.min(inVain, 1000);
  return Math.max(cooldownMs, Math.min(LONGEST_MS, doubled));
}

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
  /** What was wished then: another spec misplaces others. */
  readonly spec: SplitSpec;
}

/** What is seen now. */
export type MisplacedNow = Pick<IneffectiveMoves, "misplaced" | "spec">;

/** The longest that doubling leads to, ms: so long it may take until a webhook that is back is noticed. */
const LONGEST_MS = 180_000;

/** Moves in a row up to the last one that have not helped. */
export function ineffectiveMoveCount(
  last: IneffectiveMoves | undefined,
  { misplaced, spec }: MisplacedNow,
): number {
  if (last === undefined || misplaced < last.misplaced) return 0;
  const isSameWish = spec.spotPercentage === last.spec.spotPercentage &&
    spec.minOnDemand === last.spec.minOnDemand;
  return isSameWish ? last.count + 1 : 0;
}

/** The time between two moves: `cooldownMs`, twice as long after each that was in vain, up to 3 min. */
export function cooldownAfter(ineffective: number, cooldownMs: number): number {
  // 2^1000 is still finite.
  const doubled = cooldownMs * 2 ** Math.min(ineffective, 1000);
  return Math.max(cooldownMs, Math.min(LONGEST_MS, doubled));
}

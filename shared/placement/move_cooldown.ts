/**
 * The time between moves. It grows while moves are ineffective: while the webhook is down, a replacement
 * comes back on the same class, and further moves would disturb the workload for nothing.
 *
 * @module
 */
import type { SplitSpec } from "./split.ts";

/** The effect of the last move. */
export interface IneffectiveMoves {
  /** Ineffective moves in a row before it. */
  readonly count: number;
  /** Replicas that were misplaced before it, see `misplacedCount()`. */
  readonly misplaced: number;
  /** The spec at that time: another one misplaces other replicas. */
  readonly spec: SplitSpec;
}

/** The longest doubled time, ms: how long it may take to notice that the webhook is back. */
const LONGEST_MS = 180_000;

/** Ineffective moves in a row, including the last one. */
export function ineffectiveMoveCount(
  last: IneffectiveMoves | undefined,
  { misplaced, spec }: Omit<IneffectiveMoves, "count">,
): number {
  if (last === undefined || misplaced < last.misplaced) return 0;
  const isSameSpec = spec.spotPercentage === last.spec.spotPercentage &&
    spec.minOnDemand === last.spec.minOnDemand;
  return isSameSpec ? last.count + 1 : 0;
}

/** The time until the next try: `cooldownMs`, doubled after each ineffective one, up to 3 min. */
export function cooldownAfter(ineffective: number, cooldownMs: number): number {
  // 2^1000 is still finite.
  const doubled = cooldownMs * 2 ** Math.min(ineffective, 1000);
  return Math.max(cooldownMs, Math.min(LONGEST_MS, doubled));
}

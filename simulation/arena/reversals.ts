/**
 * How often limits turned back: a raise after a decrease, or the other way round.
 *
 * @module
 */
import type { LimitChangeRecord } from "../run_record.ts";

/** Reversals of direction, over all pods; `changes` are in time. */
export function countReversals(
  changes: readonly Pick<LimitChangeRecord, "pod" | "from" | "to">[],
): number {
  const directions = new Map<string, number>();
  let reversals = 0;
  for (const { pod, from, to } of changes) {
    const direction = Math.sign(to - from);
    if (direction === 0) continue;
    if ((directions.get(pod) ?? direction) !== direction) reversals++;
    directions.set(pod, direction);
  }
  return reversals;
}

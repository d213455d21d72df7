/**
 * The time since when a rollout has made no progress.
 *
 * @module
 */
import { isRollingOut, type Workload } from "../../../shared/api/workload.ts";

/** Since when the workload's rollout has made no progress, ms of the caller's clock. */
export type RolloutMemory = (
  workload: Workload | undefined,
  nowMs: number,
) => number | undefined;

/** A workload that was not asked about for so long, ms, is gone. */
const FORGET_MS = 60 * 60_000;

/**
 * Makes a function that returns since when the workload's counts are unchanged; undefined while it does
 * not roll out. A rollout that is seen for the first time has just made progress.
 */
export function createRolloutMemory(): RolloutMemory {
  const seen = new Map<string, { counts: string; sinceMs: number; askedMs: number }>();
  return (workload, nowMs) => {
    if (workload === undefined) return undefined;
    const { metadata: { uid }, rollout: { updated, total } } = workload;
    if (!isRollingOut(workload.rollout)) {
      seen.delete(uid);
      return undefined;
    }
    const counts = `${updated} ${total}`;
    const last = seen.get(uid);
    if (last === undefined) {
      for (const [other, { askedMs }] of seen) if (nowMs - askedMs > FORGET_MS) seen.delete(other);
    }
    const sinceMs = last?.counts === counts ? last.sinceMs : nowMs;
    seen.set(uid, { counts, sinceMs, askedMs: nowMs });
    return sinceMs;
  };
}

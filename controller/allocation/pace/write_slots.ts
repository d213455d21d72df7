/**
 * When each pod of a crowd may be written about: that enters the market, or whose node is in trouble.
 * Each is promised a time of its own at once, so that it need not ask again before.
 *
 * @module
 */
import { createRateLimiter } from "../../../shared/control/rate_limiter.ts";

/** The promises. */
export interface WriteSlots {
  /**
   * Takes the pod's slot and returns 0 when its time has come; otherwise the wait until then, ms.
   * Asking too early changes nothing.
   */
  take(podKey: string, nowMs: number): number;
}

/** A promise that is not taken up for so long, ms, is void: the pod is gone, or out of the market. */
const PATIENCE_MS = 60_000;
/** Times nearer than a microsecond are the same: `now + wait` may fall short by a rounding. */
const SAME_TIME_MS = 1e-3;

/**
 * Nobody is promised anything yet. Up to a second's worth is free at once. Slots are at least
 * 1 / `perSecond` apart; pods that come late, because the loop has more to do than it can, come as
 * fast as it works. Throws a `RangeError` when the rate is not above 0.
 */
export function createWriteSlots(
  { perSecond }: { readonly perSecond: number },
): WriteSlots {
  const limiter = createRateLimiter({ perSecond, burst: Math.max(1, Math.ceil(perSecond)) });
  // Each promise is for a later time than those before it: the oldest stand first.
  const dueAt = new Map<string, number>();

  function dropVoid(nowMs: number): void {
    for (const [podKey, dueMs] of dueAt) {
      if (dueMs + PATIENCE_MS >= nowMs) return;
      dueAt.delete(podKey);
    }
  }

  return {
    take(podKey, nowMs) {
      dropVoid(nowMs);
      const dueMs = dueAt.get(podKey) ?? nowMs + limiter.reserve(nowMs);
      if (dueMs - nowMs > SAME_TIME_MS) {
        if (!dueAt.has(podKey)) dueAt.set(podKey, dueMs);
        return dueMs - nowMs;
      }
      dueAt.delete(podKey);
      return 0;
    },
  };
}

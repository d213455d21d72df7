/**
 * When each pod of a crowd may be written about: that enters the market, or whose node is in trouble.
 * Each is promised a time of its own at once, so that it need not ask again before.
 *
 * @module
 */
import FlatQueue from "flatqueue";
import { createRateLimiter } from "../../../shared/control/rate_limiter.ts";

/** The promises. */
export interface WriteSlots {
  /**
   * Returns 0 when the pod's time has come; otherwise the wait until then, ms. Asking too early
   * changes nothing, but that an earlier time may have been given back. The pod's time stays its own
   * until it is freed: a write may fail.
   */
  take(podKey: string, nowMs: number): number;
  /** The pod has been written about, or need not be: a time that has not come yet is another's. */
  free(podKey: string, nowMs: number): void;
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
  // About the oldest first: what was given back is promised again out of turn.
  const dueAt = new Map<string, number>();
  /** Times that were given back, the earliest first. */
  const freed = new FlatQueue<undefined>();

  function isVoid(dueMs: number, nowMs: number): boolean {
    return dueMs + PATIENCE_MS < nowMs;
  }

  function dropVoid(nowMs: number): void {
    for (const [podKey, dueMs] of dueAt) {
      if (!isVoid(dueMs, nowMs)) break;
      dueAt.delete(podKey);
    }
    for (let ms = freed.peekValue(); ms !== undefined && ms < nowMs; ms = freed.peekValue()) {
      freed.pop();
    }
  }

  /** The earliest time that is nobody's, before that which the pod has. */
  function promise(present: number | undefined, nowMs: number): number {
    const earliest = freed.peekValue();
    if (present !== undefined && (present <= nowMs || (earliest ?? Infinity) >= present)) {
      return present;
    }
    if (earliest === undefined) return nowMs + limiter.reserve(nowMs);
    freed.pop();
    if (present !== undefined) freed.push(undefined, present);
    return earliest;
  }

  return {
    take(podKey, nowMs) {
      dropVoid(nowMs);
      const known = dueAt.get(podKey);
      const present = known === undefined || isVoid(known, nowMs) ? undefined : known;
      const dueMs = promise(present, nowMs);
      if (dueMs !== known) dueAt.set(podKey, dueMs);
      return dueMs - nowMs > SAME_TIME_MS ? dueMs - nowMs : 0;
    },
    free(podKey, nowMs) {
      const dueMs = dueAt.get(podKey);
      if (dueMs === undefined) return;
      dueAt.delete(podKey);
      if (dueMs > nowMs) freed.push(undefined, dueMs);
    },
  };
}

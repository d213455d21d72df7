/**
 * Pods that were evicted a moment ago: a late copy still shows them, and nobody must count on them.
 *
 * @module
 */

/** The pods, by UID. */
export interface EvictedPods {
  /** It is being evicted; `nowMs` is the monotonic clock's. */
  note(uid: string, nowMs: number): void;
  /** It stays after all. */
  forget(uid: string): void;
  has(uid: string): boolean;
  /** Forgets those whose eviction would be seen by now: where no answer came they may still be there. */
  expire(nowMs: number): void;
}

/** For how long each is noted: longer than copies are late, ms. */
export const EVICTED_FOR_MS = 60_000;

/** None yet. */
export function createEvictedPods(): EvictedPods {
  const untilMs = new Map<string, number>();
  return {
    note: (uid, nowMs) => void untilMs.set(uid, nowMs + EVICTED_FOR_MS),
    forget: (uid) => void untilMs.delete(uid),
    has: (uid) => untilMs.has(uid),
    expire(nowMs) {
      for (const [uid, until] of untilMs) if (nowMs >= until) untilMs.delete(uid);
    },
  };
}

/**
 * Pods that were evicted a moment ago: a late copy still shows them, and nobody must count on them.
 *
 * @module
 */
import { cooldownAfter } from "../../shared/placement/move_cooldown.ts";
import type { EvictionAnswer } from "./ports.ts";

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

/** A refusal. */
export type EvictionRefusal = Extract<EvictionAnswer, { readonly message: string }>;

/** When it was refused, and how patient we are. */
export interface RefusalOptions {
  /** The monotonic clock's, ms. */
  readonly nowMs: number;
  /** Between two moves of the workload, ms. */
  readonly cooldownMs: number;
}

/** A refusal that still counts. */
export interface KnownRefusal {
  readonly refusal: EvictionRefusal;
  /** Until then the pod is left alone, ms of the monotonic clock. */
  readonly untilMs: number;
}

/** The refusals, by the pods' UIDs. */
export interface RefusedEvictions {
  /** Returns true where the last answer about the pod was a refusal of the same kind. */
  note(uid: string, refusal: EvictionRefusal, options: RefusalOptions): boolean;
  /** Undefined where the pod's eviction may be asked for. */
  of(uid: string, nowMs: number): KnownRefusal | undefined;
  /** What was said of a pod whose eviction was denied in the last half hour; others are moved in its place. */
  denial(uid: string, nowMs: number): string | undefined;
  /** It is refused no more. */
  forget(uid: string): void;
  /** Forgets pods that nobody has asked about again. */
  expire(nowMs: number): void;
}

/** Nodes go in two minutes, and servers are not to be asked all the time, whatever moves are held to, ms. */
const SHORTEST_MS = 1000;
const LONGEST_MS = 60_000;
/** What is denied seldom changes, ms. */
const KEPT_MS = 1_800_000;

/** None yet. */
export function createRefusedEvictions(): RefusedEvictions {
  const all = new Map<string, KnownRefusal & { readonly times: number; readonly atMs: number }>();
  return {
    note(uid, refusal, { nowMs, cooldownMs }) {
      const known = all.get(uid);
      const again = known?.refusal.is === refusal.is;
      const times = again ? known.times + 1 : 0;
      const usualMs = Math.min(LONGEST_MS, Math.max(SHORTEST_MS, cooldownMs));
      // Budgets let go by and by.
      const waitMs = refusal.is === "forbidden" ? cooldownAfter(times, usualMs) : usualMs;
      all.set(uid, { refusal, untilMs: nowMs + waitMs, times, atMs: nowMs });
      return again;
    },
    of(uid, nowMs) {
      const known = all.get(uid);
      return known !== undefined && nowMs < known.untilMs ? known : undefined;
    },
    denial(uid, nowMs) {
      const known = all.get(uid);
      return known?.refusal.is === "forbidden" && nowMs < known.atMs + KEPT_MS
        ? known.refusal.message
        : undefined;
    },
    forget: (uid) => void all.delete(uid),
    expire(nowMs) {
      for (const [uid, { atMs }] of all) if (nowMs >= atMs + KEPT_MS) all.delete(uid);
    },
  };
}

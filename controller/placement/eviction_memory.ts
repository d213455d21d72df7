/**
 * Remembers evictions: of pods that caches may still have, and refused ones.
 *
 * @module
 */
import type { Clock } from "../../shared/clock.ts";
import { cooldownAfter } from "../../shared/placement/move_cooldown.ts";
import type { PlacementSettings } from "../../shared/placement/settings.ts";
import type { EvictionAnswer } from "../../shared/api/ports.ts";

/** Evictions by the pods' UIDs. */
export interface EvictionLog {
  /** Notes a request. The pod counts as evicted even if no answer arrives: the request may have arrived. */
  requested(uid: string): void;
  /** Notes the answer. Returns true if the previous request was refused in the same way. */
  answered(uid: string, answer: EvictionAnswer): boolean;
  /** True for a pod with a requested eviction, even if the cache still has it. */
  has(uid: string): boolean;
  /** How long a refused eviction must wait before it is requested again, ms; undefined: it need not. */
  retryAfterMs(uid: string): number | undefined;
  /** Why the eviction was denied in the last half hour. Other pods move in place of this one. */
  denial(uid: string): string | undefined;
  /** Deletes evictions that caches must have received by now, and old refusals. */
  expire(): void;
}

type Refusal = Extract<EvictionAnswer, { readonly message: string }>;

/** How long an eviction is remembered: longer than caches lag behind, ms. */
export const EVICTED_FOR_MS = 60_000;
/** Bounds of the wait after a refusal, ms: a spot node is gone within two minutes, and requests load the API server. */
const SHORTEST_MS = 1000;
const LONGEST_MS = 60_000;
/** How long a refusal is remembered, ms: the reasons of denials seldom change. */
const REFUSED_FOR_MS = 1_800_000;

/** An empty log. */
export function createEvictionLog({ clock, settings }: {
  readonly clock: Pick<Clock, "monotonic">;
  readonly settings: () => Pick<PlacementSettings, "placementCooldown">;
}): EvictionLog {
  const evictedUntilMs = new Map<string, number>();
  const refused = new Map<
    string,
    { refusal: Refusal; times: number; atMs: number; untilMs: number }
  >();

  function refuse(uid: string, refusal: Refusal): boolean {
    const known = refused.get(uid);
    const again = known?.refusal.is === refusal.is;
    const times = again ? known.times + 1 : 0;
    const usualMs = Math.min(LONGEST_MS, Math.max(SHORTEST_MS, settings().placementCooldown));
    // A budget allows disruptions again by itself, so only denials back off.
    const waitMs = refusal.is === "forbidden" ? cooldownAfter(times, usualMs) : usualMs;
    const atMs = clock.monotonic();
    refused.set(uid, { refusal, times, atMs, untilMs: atMs + waitMs });
    return again;
  }

  return {
    requested: (uid) => void evictedUntilMs.set(uid, clock.monotonic() + EVICTED_FOR_MS),
    answered(uid, answer) {
      if (answer.is === "blocked" || answer.is === "forbidden") {
        evictedUntilMs.delete(uid);
        return refuse(uid, answer);
      }
      refused.delete(uid);
      return false;
    },
    has: (uid) => evictedUntilMs.has(uid),
    retryAfterMs(uid) {
      const leftMs = (refused.get(uid)?.untilMs ?? -Infinity) - clock.monotonic();
      return leftMs > 0 ? leftMs : undefined;
    },
    denial(uid) {
      const known = refused.get(uid);
      return known?.refusal.is === "forbidden" && clock.monotonic() < known.atMs + REFUSED_FOR_MS
        ? known.refusal.message
        : undefined;
    },
    expire() {
      const nowMs = clock.monotonic();
      for (const [uid, untilMs] of evictedUntilMs) {
        if (nowMs >= untilMs) evictedUntilMs.delete(uid);
      }
      for (const [uid, { atMs }] of refused) {
        if (nowMs >= atMs + REFUSED_FOR_MS) refused.delete(uid);
      }
    },
  };
}

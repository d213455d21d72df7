/**
 * How long each pod was held back since the agent began to see it.
 *
 * @module
 */
import type { RoundResult } from "./market_round.ts";

/** Adds up what rounds report. */
export interface ThrottledTime {
  /** Takes a round, with all that was read since the last one. */
  add(round: Pick<RoundResult, "seats">): void;
  /** Seconds by pod UID, of the pods of the last round. Never falls while a pod is there. */
  seconds(): ReadonlyMap<string, number>;
}

/** A sum of nothing. */
export function createThrottledTime(): ThrottledTime {
  let seconds = new Map<string, number>();
  let counted = new Map<string, number>();
  return {
    add({ seats }) {
      const isKnown = seats.length === counted.size &&
        seats.every(({ seat, page }) => counted.get(seat.containerID) === page.heldBackMs);
      if (isKnown) return;
      const before = counted;
      counted = new Map();
      const sums = new Map<string, number>();
      for (const { seat, page: { heldBackMs } } of seats) {
        const { containerID, allocation: { spec: { podUID } } } = seat;
        // A container that was restarted counts from nothing, under another id.
        const freshMs = heldBackMs - (before.get(containerID) ?? 0);
        counted.set(containerID, heldBackMs);
        const sum = sums.get(podUID) ?? seconds.get(podUID) ?? 0;
        sums.set(podUID, sum + freshMs / 1000);
      }
      seconds = sums;
    },
    seconds: () => seconds,
  };
}

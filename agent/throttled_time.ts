/**
 * How long each pod was held back since the agent began to see it.
 *
 * @module
 */
import type { RoundResult } from "./market_round.ts";

/** Adds up what rounds report. */
export interface ThrottledTime {
  /** Takes a round; a sample counts once, however many rounds show it. */
  add(round: RoundResult): void;
  /** Seconds by pod UID, of the pods of the last round. */
  seconds(): ReadonlyMap<string, number>;
}

const MS2_PER_S2 = 1e6;

/** A sum of nothing. */
export function createThrottledTime(): ThrottledTime {
  let seconds = new Map<string, number>();
  return {
    add({ seats, now }) {
      let pods = 0;
      let last: string | undefined;
      for (const { seat, page: { sample } } of seats) {
        const uid = seat.allocation.spec.podUID;
        if (uid !== last) pods++;
        last = uid;
        const fresh = sample?.at === now ? sample.heldBack * sample.intervalMs / MS2_PER_S2 : 0;
        if (fresh > 0 || !seconds.has(uid)) seconds.set(uid, (seconds.get(uid) ?? 0) + fresh);
      }
      if (seconds.size === pods) return;
      const here = new Set(seats.map(({ seat }) => seat.allocation.spec.podUID));
      seconds = new Map([...seconds].filter(([uid]) => here.has(uid)));
    },
    seconds: () => seconds,
  };
}

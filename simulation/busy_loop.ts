/**
 * A workload that always wants CPU: a batch job, a noisy neighbour, a test.
 *
 * @module
 */
import type { ArrivalProcess } from "./node/request_server.ts";

/** Occupies `threads` threads from `startMs` (default 0) on, for ever. */
export function busyLoop(threads: number, { startMs = 0 } = {}): ArrivalProcess {
  let started = 0;
  return {
    nextAt: threads > 0 ? startMs : Infinity,
    nextCost: Infinity,
    next() {
      started++;
      if (started >= threads) this.nextAt = Infinity;
    },
  };
}

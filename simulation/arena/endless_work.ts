/**
 * The load of a batch job: it always wants CPU.
 *
 * @module
 */
import type { Workload } from "../workload.ts";

/** Occupies `threads` threads for ever. */
export function endlessWork(threads: number): Workload {
  let started = 0;
  return {
    nextAt: threads > 0 ? 0 : Infinity,
    nextCost: Infinity,
    next() {
      started++;
      if (started >= threads) this.nextAt = Infinity;
    },
    coresAt: () => threads,
  };
}

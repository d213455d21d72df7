/**
 * What an estimate of demand is made from.
 *
 * @module
 */

/** One container over one sampling interval. CPU in millicores, times in milliseconds. */
export interface DemandSignal {
  /** Monotonic time at the interval's end. */
  readonly at: number;
  readonly intervalMs: number;
  /** CPU time used / interval. */
  readonly usage: number;
  /** CPU time that a quota kept runnable threads from / interval. */
  readonly heldBack: number;
  /** The most the container may be given. */
  readonly ceiling: number;
}

/**
 * A rule that turns signals into demand: the millicores that the container would use if nothing
 * held it back. Rules may remember; each container has its own, fed in order of time. Rules wrap
 * one another, each adding one idea.
 */
export type DemandRule = (signal: DemandSignal) => number;

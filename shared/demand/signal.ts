/**
 * What an estimate of demand is made from.
 *
 * @module
 */

/** One container over one sampling interval. CPU in millicores, times in milliseconds. */
export interface DemandSignal {
  readonly intervalMs: number;
  /** CPU time used / interval. */
  readonly usage: number;
  /** CPU time that a quota kept runnable threads from / interval. */
  readonly heldBack: number;
  /** Share of the interval's enforcement periods in which a quota ran out, 0 to 1. */
  readonly throttledShare: number;
  /** The quota in force; absent when there is none. */
  readonly quota?: number | undefined;
  /**
   * How hard it is to give the container more: 0 while CPU of the node is free, 1 when others would
   * have to be lowered for it.
   */
  readonly scarcity: number;
}

/**
 * A rule that turns signals into demand: the millicores that the container would use if nothing
 * held it back. Rules may remember; each container has its own, fed in order of time. Rules wrap
 * one another, each adding one idea.
 */
export type DemandRule = (signal: DemandSignal) => number;

/**
 * The input of an estimate of demand, and its result.
 *
 * @module
 */

/** One container over one sampling interval. CPU in millicores, times in milliseconds. */
export interface DemandSignal {
  readonly intervalMs: number;
  /** CPU time used / interval. */
  readonly usage: number;
  /** Time for which a quota kept threads from running, ms per second, summed over threads. */
  readonly throttledMsPerS: number;
  /**
   * Share of the interval's enforcement periods in which a quota ran out, 0 to 1; undefined when
   * none ended in it.
   */
  readonly throttledShare: number | undefined;
  /** The quota in force; absent when there is none. */
  readonly quota?: number | undefined;
  /**
   * How hard it is to give the container more: 0 while CPU of the node is free, 1 when others would
   * have to be lowered for it.
   */
  readonly scarcity: number;
  /** How long work may wait for a quota on this node now: longer where CPU is short. */
  readonly waitMs: number;
}

/** What is known of a container's demand. */
export interface DemandEstimate {
  /** Millicores that it uses on average. */
  readonly mean: number;
  /** How unevenly its work comes, CPU ms: variance of the work of a time / mean work of that time. */
  readonly burstinessMs: number;
  /** Millicores to be tried out, because quotas hide what it would use; 0 when they don't. */
  readonly trial: number;
  /** For how long the quota has run out all the time, trials and all; 0 when it does not. */
  readonly saturatedMs: number;
}

/** A rule that turns signals into an estimate. It remembers; each container has its own. */
export type DemandRule = (signal: DemandSignal) => DemandEstimate;

/**
 * The port of a control algorithm that is tried beside ours: it looks at a node's pods from time to
 * time and says which limits it wants.
 *
 * An algorithm reads cgroup files, nothing else, and requests limits; the player of the scene keeps
 * floors, ceilings and the 10 m grid, and puts the request into force after the resize delay, the same
 * for every algorithm.
 *
 * @module
 */

/** Counters of one pod since the scene began. They only grow. */
export interface RivalReading {
  /** CPU time used, ms. */
  readonly usageMs: number;
  /** Thread time for which quotas held it back, ms. */
  readonly throttledMs: number;
  /** CFS periods in which a quota ran out. */
  readonly throttledPeriods: number;
  /** The limit in force, millicores. */
  readonly limit: number;
}

/** Settings of a pod that an algorithm has from the start. Millicores; the weight has no unit. */
export interface RivalPod {
  readonly request: number;
  /** The original limit; every scene begins with it. */
  readonly originalLimit: number;
  /** Bounds within which every algorithm runs the pod. */
  readonly floor: number;
  readonly ceiling: number;
  readonly weight: number;
  /**
   * 90th percentile over the whole run of what would be used in a second: only for an algorithm that
   * knows it.
   */
  readonly p90Demand: number;
}

/** The node that the pods share. Millicores. */
export interface RivalNode {
  /** CPU of the node. */
  readonly cpu: number;
  /** The part of it that limits may share. */
  readonly capacity: number;
}

/** An algorithm at work on one node. */
export interface RivalRun {
  /**
   * One look, at `atMs` of virtual time, with a reading per pod in the order of the start. Returns
   * the limit wanted for each pod, millicores, or undefined to leave it. The first look is at 0.
   */
  look(atMs: number, readings: readonly RivalReading[]): readonly (number | undefined)[];
}

/** An algorithm with one setting. */
export interface Rival {
  /** As in tables, for instance `captain`. */
  readonly algorithm: string;
  /** The setting as text, for instance `target 0.1`; never empty. */
  readonly setting: string;
  /** Time between two looks, ms, a multiple of 100. */
  readonly lookMs: number;
  /** Begins anew: nothing is remembered from another run. */
  start(pods: readonly RivalPod[], node: RivalNode): RivalRun;
}

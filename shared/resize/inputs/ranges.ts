/**
 * What the LimitRanges of a namespace come to.
 *
 * @module
 */

/** A range of requests and limits: of CPU in millicores, of memory in bytes. */
export interface AmountRange {
  /** 0 when there is none. */
  readonly min: number;
  /** Infinity when there is none. */
  readonly max: number;
  /** The largest limit / request; Infinity when there is none. */
  readonly ratio: number;
}

/** The ranges of one resource, for each container and for the sums of a pod. */
export interface AmountRanges {
  readonly container: AmountRange;
  readonly pod: AmountRange;
}

/** What the LimitRanges of a namespace come to. */
export interface ResourceRanges {
  readonly cpu?: AmountRanges;
  readonly memory?: AmountRanges;
  /**
   * What the server writes at each resize into every container that lacks it, as `limits.<resource>`
   * and `requests.<resource>`; absent: nothing.
   */
  readonly defaults?: readonly string[];
}

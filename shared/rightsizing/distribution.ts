/**
 * What was seen of one resource of one container, over a window and over all pods of its workload.
 *
 * @module
 */

/** Samples, whatever they are kept as: all of them, or a histogram. */
export interface Distribution {
  /** Samples that there are; 0: nothing below but the times means anything. */
  readonly count: number;
  /** The smallest and the largest sample, exactly. */
  readonly min: number;
  readonly max: number;
  /** Times of the oldest and the newest sample, ms since 1970; without any, the window's start. */
  readonly oldestMs: number;
  readonly newestMs: number;
  /**
   * The value at rank `fraction` × (count − 1), between two ranks by linear interpolation, never outside
   * of `min` and `max`; from a histogram within its relative error, from a compact one exactly at whole
   * percents and between two of them in a line. Throws a `RangeError` outside of 0..1
   * and where there are no samples.
   */
  quantile(fraction: number): number;
}

/** What a container used. */
export interface ContainerUsage {
  /** Name of the container in the workload's pods. */
  readonly container: string;
  /** Millicores: rates over a short range, not over the window, which would hide peaks. */
  readonly cpu: Distribution;
  /** Bytes of the working set. */
  readonly memory: Distribution;
}

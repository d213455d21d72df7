/**
 * What a container should ask for.
 *
 * @module
 */

/** Values for one container: millicores and bytes, whole. */
export interface ContainerRecommendation {
  readonly container: string;
  /** Request. */
  readonly cpu: number;
  /** Request. */
  readonly memory: number;
  /** Absent where limits are left alone. */
  readonly cpuLimit?: number;
  readonly memoryLimit?: number;
  /** In a sentence: percentile, samples, window, raw value, factor, bounds and what clamped it. */
  readonly explanation: string;
}

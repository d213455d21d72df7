/**
 * The distribution of samples that are all there.
 *
 * @module
 */
import type { Distribution } from "./distribution.ts";

/**
 * The distribution of these values, which are copied. Between two ranks it is linear:
 * of [100, 200, 300] the quantile 0.5 is 200 and 0.9 is 280 (R type 7, numpy's default).
 */
export function samplesDistribution(
  values: Float64Array,
  { oldestMs, newestMs }: { readonly oldestMs: number; readonly newestMs: number },
): Distribution {
  const sorted = values.slice().sort();
  const count = sorted.length;
  return {
    count,
    min: sorted[0] ?? 0,
    max: sorted[count - 1] ?? 0,
    oldestMs,
    newestMs,
    quantile(fraction) {
      if (count === 0 || !(fraction >= 0 && fraction <= 1)) {
        throw new RangeError(`Cannot take the quantile ${fraction} of ${count} samples`);
      }
      const rank = fraction * (count - 1);
      const low = sorted[Math.floor(rank)] ?? NaN;
      const high = sorted[Math.ceil(rank)] ?? NaN;
      return low + (high - low) * (rank - Math.floor(rank));
    },
  };
}

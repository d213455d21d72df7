/**
 * The distribution of samples that are all there.
 *
 * @module
 */
import type { Distribution } from "./distribution.ts";
import { interpolatedQuantile } from "./interpolated_quantile.ts";

/**
 * The exact distribution of these values, which are copied: a typed array of millions of them takes
 * eight bytes each, and sorts by number.
 */
export function samplesDistribution(
  values: Float64Array,
  { oldestMs, newestMs }: { readonly oldestMs: number; readonly newestMs: number },
): Distribution {
  const sorted = values.slice().sort();
  const count = sorted.length;
  const ordered = { count, valueAt: (rank: number): number => sorted[rank] ?? NaN };
  return {
    count,
    min: sorted[0] ?? 0,
    max: sorted[count - 1] ?? 0,
    oldestMs,
    newestMs,
    quantile: (fraction) => interpolatedQuantile(ordered, fraction),
  };
}

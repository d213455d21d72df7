/**
 * Mean and standard deviation of a histogram.
 *
 * @module
 */
import { type LatencyHistogram, latencyQuantile } from "../../simulation/node/latency_histogram.ts";

/**
 * Mean and standard deviation of the recorded values, ms, within the histogram's 1 %; 0 for both when
 * it is empty.
 */
export function histogramMoments(
  histogram: LatencyHistogram,
): { readonly mean: number; readonly spread: number } {
  if (histogram.total === 0) return { mean: 0, spread: 0 };
  let sum = 0;
  let squares = 0;
  histogram.counts.forEach((count, bucket) => {
    if (count === 0) return;
    const value = middleOf(bucket);
    sum += count * value;
    squares += count * value * value;
  });
  const mean = sum / histogram.total;
  return { mean, spread: Math.sqrt(Math.max(0, squares / histogram.total - mean * mean)) };
}

/** The stand-in of a bucket, ms: what the histogram itself says of a value in it. */
function middleOf(bucket: number): number {
  const counts = new Float64Array(bucket + 1);
  counts[bucket] = 1;
  return latencyQuantile({ total: 1, counts }, 1);
}

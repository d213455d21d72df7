/**
 * A histogram of latencies with logarithmic buckets: fixed size, 1 % relative error.
 *
 * Bucket i holds the values from LOWEST × 1.02^i to LOWEST × 1.02^(i+1); its stand-in is the
 * bucket's geometric middle, off by at most a factor sqrt(1.02) < 1.01.
 *
 * @module
 */

const GROWTH = 1.02;
const LOG_GROWTH = Math.log(GROWTH);
/** ms; whatever is shorter counts as this. */
const LOWEST = 0.01;
/** Up to 0.01 × 1.02^1200 = 2.1e8 ms, two and a half days; whatever is longer counts as this. */
const BUCKETS = 1200;

/** Counts of latencies. */
export interface LatencyHistogram {
  /** Values recorded. */
  total: number;
  /** Requests among them that their client gave up; each counts with the time that it waited. */
  failed: number;
  readonly counts: Float64Array;
}

/** An empty histogram. */
export function createLatencyHistogram(): LatencyHistogram {
  return { total: 0, failed: 0, counts: new Float64Array(BUCKETS) };
}

/** Counts one latency, ms, at least 0. */
export function recordLatency(histogram: LatencyHistogram, ms: number): void {
  histogram.counts[bucketOf(ms)]!++;
  histogram.total++;
}

function bucketOf(ms: number): number {
  const index = Math.floor(Math.log(ms / LOWEST) / LOG_GROWTH);
  return index > 0 ? Math.min(index, BUCKETS - 1) : 0;
}

/** Counts a request that its client gave up after `ms`. */
export function recordFailure(histogram: LatencyHistogram, ms: number): void {
  recordLatency(histogram, ms);
  histogram.failed++;
}

/** How many values are above `ms`, within 1 % of it. */
export function countAbove({ counts }: LatencyHistogram, ms: number): number {
  return counts.subarray(bucketOf(ms) + 1).reduce((sum, count) => sum + count, 0);
}

/** The values of all of them. */
export function mergedLatencies(histograms: readonly LatencyHistogram[]): LatencyHistogram {
  const merged = createLatencyHistogram();
  for (const { counts, total, failed } of histograms) {
    counts.forEach((count, index) => merged.counts[index]! += count);
    merged.total += total;
    merged.failed += failed;
  }
  return merged;
}

/** A copy of `histogram` without what `earlier`, an older copy of it, holds. */
export function latenciesSince(
  histogram: LatencyHistogram,
  earlier: LatencyHistogram = createLatencyHistogram(),
): LatencyHistogram {
  return {
    total: histogram.total - earlier.total,
    failed: histogram.failed - earlier.failed,
    counts: histogram.counts.map((count, index) => count - (earlier.counts[index] ?? 0)),
  };
}

/**
 * The latency, ms, that the share `quantile` (0 to 1) of all values does not exceed, within 1 %;
 * 0 when nothing was recorded. The nearest-rank definition. RangeError for another share.
 */
export function latencyQuantile(histogram: LatencyHistogram, quantile: number): number {
  if (!(quantile >= 0 && quantile <= 1)) {
    throw new RangeError(`Cannot read a quantile: ${quantile} is not between 0 and 1`);
  }
  if (histogram.total === 0) return 0;
  const rank = Math.max(1, Math.ceil(quantile * histogram.total));
  let seen = 0;
  let bucket = 0;
  while (bucket < BUCKETS - 1) {
    seen += histogram.counts[bucket] ?? 0;
    if (seen >= rank) break;
    bucket++;
  }
  return LOWEST * Math.exp((bucket + 0.5) * LOG_GROWTH);
}

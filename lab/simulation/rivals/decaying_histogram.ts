/**
 * The histogram from which the VPA's recommender reads percentiles of usage.
 *
 * @module
 */

/** One observation. */
export interface WeightedSample {
  /** Millicores or bytes, at least 0. */
  readonly value: number;
  /** No unit, above 0. */
  readonly weight: number;
  /** Time of the observation, ms; samples come in any order. */
  readonly atMs: number;
}

/** Weights by value, the older the lighter. */
export interface DecayingHistogram {
  add(sample: WeightedSample): void;
  /** Upper end of the bucket in which the share `share` of the weight is reached; 0 when empty. */
  percentile(share: number): number;
}

/** The first bucket is 0 to 10 m of CPU, each next one 5 % wider. */
const FIRST_BUCKET = 10;
/** The same of memory, bytes. */
export const FIRST_MEMORY_BUCKET = 1e7;
const GROWTH = 1.05;
/** 24 h, ms. */
const HALF_LIFE_MS = 86_400_000;

/** What a histogram is for. */
export interface HistogramOptions {
  /** Width of the first bucket. @default {10}, of CPU in millicores */
  readonly firstBucket?: number;
}

/**
 * A new one. Bucket n ends at 10 m × (1.05^(n+1) − 1) / 0.05: 10, 20.5, 31.525 m. Instead of making
 * old samples lighter it makes new ones heavier, 2^(age of the histogram / 24 h): the percentile is
 * the same, and numbers hold out for 1,000 days.
 */
export function createDecayingHistogram(
  { firstBucket = FIRST_BUCKET }: HistogramOptions = {},
): DecayingHistogram {
  const weights: number[] = [];
  let total = 0;
  return {
    add({ value, weight, atMs }) {
      const bucket = bucketOf(value / firstBucket);
      while (weights.length <= bucket) weights.push(0);
      const decayed = weight * 2 ** (atMs / HALF_LIFE_MS);
      weights[bucket] = (weights[bucket] ?? 0) + decayed;
      total += decayed;
    },
    percentile(share) {
      let sum = 0;
      for (const [bucket, weight] of weights.entries()) {
        sum += weight;
        if (weight > 0 && sum >= share * total) return firstBucket * endOf(bucket);
      }
      return weights.length === 0 ? 0 : firstBucket * endOf(weights.length - 1);
    },
  };
}

/** Of a value in widths of the first bucket. */
function bucketOf(widths: number): number {
  return Math.max(0, Math.floor(Math.log(widths * (GROWTH - 1) + 1) / Math.log(GROWTH)));
}

/** In widths of the first bucket. */
function endOf(bucket: number): number {
  return (GROWTH ** (bucket + 1) - 1) / (GROWTH - 1);
}

/**
 * The histogram from which the VPA's recommender reads percentiles of CPU usage.
 *
 * @module
 */

/** One observation. */
export interface WeightedSample {
  /** Millicores, at least 0. */
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

/** The first bucket is 0 to 10 m, each next one 5 % wider. */
const FIRST_BUCKET = 10;
const GROWTH = 1.05;
/** 24 h, ms. */
const HALF_LIFE_MS = 86_400_000;

/**
 * A new one. Bucket n ends at 10 m × (1.05^(n+1) − 1) / 0.05: 10, 20.5, 31.525 m. Instead of making
 * old samples lighter it makes new ones heavier, 2^(age of the histogram / 24 h): the percentile is
 * the same, and numbers hold out for 1,000 days.
 */
export function createDecayingHistogram(): DecayingHistogram {
  const weights: number[] = [];
  let total = 0;
  return {
    add({ value, weight, atMs }) {
      const bucket = bucketOf(value);
      while (weights.length <= bucket) weights.push(0);
      const decayed = weight * 2 ** (atMs / HALF_LIFE_MS);
      weights[bucket] = (weights[bucket] ?? 0) + decayed;
      total += decayed;
    },
    percentile(share) {
      let sum = 0;
      for (const [bucket, weight] of weights.entries()) {
        sum += weight;
        if (weight > 0 && sum >= share * total) return endOf(bucket);
      }
      return weights.length === 0 ? 0 : endOf(weights.length - 1);
    },
  };
}

function bucketOf(value: number): number {
  const widths = value / FIRST_BUCKET;
  return Math.max(0, Math.floor(Math.log(widths * (GROWTH - 1) + 1) / Math.log(GROWTH)));
}

function endOf(bucket: number): number {
  return FIRST_BUCKET * (GROWTH ** (bucket + 1) - 1) / (GROWTH - 1);
}

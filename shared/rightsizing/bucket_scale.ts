/**
 * Logarithmic buckets: each as wide, in proportion to what lies in it, as any other.
 *
 * @module
 */
import type { ResourceName } from "../api/pod.ts";

/**
 * A sample is known from its bucket within this share of itself. One percent is far below what a safety
 * factor of 1.2 adds, and below the 10 % by which a recommendation must differ to be applied.
 */
export const RELATIVE_ERROR = 0.01;

/**
 * Bucket b holds [least × growth^b, least × growth^(b+1)), and stands for least × growth^b × (1 + error):
 * that is as far from its start as from its end, in proportion, when growth = (1 + error) / (1 − error)
 * (Masson, Rim, Lee: DDSketch, 2019, with the interval's closed end on the other side).
 */
const LOG_GROWTH = Math.log((1 + RELATIVE_ERROR) / (1 - RELATIVE_ERROR));

/** Where the buckets of a resource lie. */
export interface BucketScale {
  /** The first bucket's start. What is smaller, zero included, counts as 0. */
  readonly least: number;
  /** What lies beyond the last is counted in it; only the maximum knows better. */
  readonly buckets: number;
  /** Samples count in whole parts of this many to the unit, so that texts hold them exactly. */
  readonly partsPerUnit: number;
}

/**
 * CPU from 1 m, the least that a request may differ by, to 2^20 m: a thousand CPUs, as the largest
 * machines have. ln 2^20 / 0.0200007 = 693.1 buckets. Whole nanocores are what metrics-server counts in.
 *
 * Memory from 1 MiB, below which no process of a container runs for long, to 2^44 bytes (16 TiB).
 * ln 2^24 / 0.0200007 = 831.7 buckets.
 */
export const BUCKET_SCALES: Readonly<Record<ResourceName, BucketScale>> = {
  cpu: { least: 1, buckets: 694, partsPerUnit: 1_000_000 },
  memory: { least: 2 ** 20, buckets: 832, partsPerUnit: 1 },
};

/** The bucket of a value, or −1 for one that counts as 0. */
export function bucketOf(value: number, scale: BucketScale): number {
  if (value < scale.least) return -1;
  return Math.min(scale.buckets - 1, Math.floor(Math.log(value / scale.least) / LOG_GROWTH));
}

/** What all samples of a bucket are taken for; 0 for bucket −1. */
export function bucketValue(bucket: number, scale: BucketScale): number {
  return bucket < 0 ? 0 : scale.least * Math.exp(bucket * LOG_GROWTH) * (1 + RELATIVE_ERROR);
}

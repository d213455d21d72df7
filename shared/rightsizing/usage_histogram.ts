/**
 * Samples as counts in logarithmic buckets: each as wide, in proportion to what lies in it, as any other.
 *
 * @module
 */
import { type Distribution, interpolatedQuantile, type UsageSample } from "./distribution.ts";
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

/**
 * Plain data, since there are dozens for each container: functions below work on it. Only the span of
 * buckets between the least and the greatest in use is kept, two bytes each.
 */
export interface UsageHistogram {
  /** Samples in all. */
  count: number;
  /** Exactly; Infinity and −Infinity while there are none, as are the times. */
  min: number;
  max: number;
  oldestMs: number;
  newestMs: number;
  /** Samples below the scale's first bucket. */
  tiny: number;
  /** The bucket that `counts` begins with, a multiple of {@linkcode BLOCK}. */
  first: number;
  /** The low 16 bits of the count of each bucket; its length is a multiple of {@linkcode BLOCK}. */
  counts: Uint16Array;
  /** How often 65,536 was carried out of a bucket: an entry stands for that many samples at least. */
  carries?: Map<number, number>;
}

/** Spans grow by whole blocks, so that noise around one value seldom makes a new array. */
export const BLOCK = 16;

const CARRY = 2 ** 16;
const NO_COUNTS = new Uint16Array(0);

/** Nothing seen yet. */
export function createUsageHistogram(): UsageHistogram {
  return {
    count: 0,
    min: Infinity,
    max: -Infinity,
    oldestMs: Infinity,
    newestMs: -Infinity,
    tiny: 0,
    first: 0,
    counts: NO_COUNTS,
  };
}

/** Counts one sample of 0 or more. */
export function addSample(
  histogram: UsageHistogram,
  { atMs, value }: UsageSample,
  { scale }: { readonly scale: BucketScale },
): void {
  histogram.min = Math.min(histogram.min, value);
  histogram.max = Math.max(histogram.max, value);
  histogram.oldestMs = Math.min(histogram.oldestMs, atMs);
  histogram.newestMs = Math.max(histogram.newestMs, atMs);
  addCount(histogram, { bucket: bucketOf(value, scale), count: 1 });
}

/** So many samples in one bucket; −1 is what is below the first. */
export interface BucketCount {
  readonly bucket: number;
  readonly count: number;
}

/** Counts samples of a bucket, and leaves minimum, maximum and times to the caller. */
export function addCount(histogram: UsageHistogram, { bucket, count }: BucketCount): void {
  if (count === 0) return;
  histogram.count += count;
  if (bucket < 0) {
    histogram.tiny += count;
    return;
  }
  widen(histogram, bucket);
  const place = bucket - histogram.first;
  const total = histogram.counts[place]! + count;
  histogram.counts[place] = total % CARRY;
  if (total < CARRY) return;
  histogram.carries ??= new Map();
  const carried = histogram.carries.get(bucket) ?? 0;
  histogram.carries.set(bucket, carried + Math.floor(total / CARRY));
}

/** Makes sure that the span holds the bucket. */
function widen(histogram: UsageHistogram, bucket: number): void {
  const { first, counts } = histogram;
  const end = first + counts.length;
  if (bucket >= first && bucket < end) return;
  const block = bucket - bucket % BLOCK;
  const newFirst = counts.length === 0 ? block : Math.min(first, block);
  const newEnd = counts.length === 0 ? block + BLOCK : Math.max(end, block + BLOCK);
  const wider = new Uint16Array(newEnd - newFirst);
  if (counts.length > 0) wider.set(counts, first - newFirst);
  histogram.first = newFirst;
  histogram.counts = wider;
}

/** Samples in a bucket within the span. */
export function countAt(histogram: UsageHistogram, bucket: number): number {
  const low = histogram.counts[bucket - histogram.first] ?? 0;
  return low + CARRY * (histogram.carries?.get(bucket) ?? 0);
}

/** Adds all of `source` to `target`, as if each of its samples had been added: one step a bucket. */
export function mergeInto(target: UsageHistogram, source: UsageHistogram): void {
  target.min = Math.min(target.min, source.min);
  target.max = Math.max(target.max, source.max);
  target.oldestMs = Math.min(target.oldestMs, source.oldestMs);
  target.newestMs = Math.max(target.newestMs, source.newestMs);
  addCount(target, { bucket: -1, count: source.tiny });
  const { first, counts } = source;
  if (counts.length === 0) return;
  // Both ends first, so that the target's span is made anew twice at most.
  widen(target, first + counts.length - 1);
  widen(target, first);
  for (let bucket = first; bucket < first + counts.length; bucket++) {
    addCount(target, { bucket, count: countAt(source, bucket) });
  }
}

/**
 * What the histograms say together now; later samples don't change it. The lowest and the highest rank
 * are exact, every other is within the relative error (below the first bucket within its start), and
 * never outside of minimum and maximum. Times as given where there are no samples.
 */
export function distributionOfHistograms(
  histograms: readonly UsageHistogram[],
  { scale, emptyMs }: { readonly scale: BucketScale; readonly emptyMs: number },
): Distribution {
  const used = histograms.filter(({ count }) => count > 0);
  const sum = (of: (one: UsageHistogram) => number): number =>
    used.reduce((total, one) => total + of(one), 0);
  const least = (of: (one: UsageHistogram) => number): number => Math.min(...used.map(of));
  const most = (of: (one: UsageHistogram) => number): number => Math.max(...used.map(of));
  const count = sum((one) => one.count);
  const tiny = sum((one) => one.tiny);
  const empty = count === 0;
  const [min, max] = empty ? [0, 0] : [least((one) => one.min), most((one) => one.max)];
  const first = empty ? 0 : least((one) => one.first);
  const upTo = cumulated(used, { first, tiny });
  const valueAt = (rank: number): number => {
    if (rank === 0) return min;
    if (rank === count - 1) return max;
    const bucket = rank < tiny ? -1 : first + firstAbove(upTo, rank);
    return Math.min(max, Math.max(min, bucketValue(bucket, scale)));
  };
  return {
    count,
    min,
    max,
    oldestMs: empty ? emptyMs : least((one) => one.oldestMs),
    newestMs: empty ? emptyMs : most((one) => one.newestMs),
    quantile: (fraction) => interpolatedQuantile({ count, valueAt }, fraction),
  };
}

/** How many samples lie in each bucket or below, from the bucket `first` on: one addition a bucket. */
function cumulated(
  histograms: readonly UsageHistogram[],
  { first, tiny }: { readonly first: number; readonly tiny: number },
): Float64Array {
  const ends = histograms.map((one) => one.first + one.counts.length - first);
  const upTo = new Float64Array(Math.max(0, ...ends));
  for (const { first: begin, counts, carries } of histograms) {
    for (let place = 0; place < counts.length; place++) {
      upTo[begin - first + place]! += counts[place]!;
    }
    for (const [bucket, times] of carries ?? []) upTo[bucket - first]! += CARRY * times;
  }
  let sum = tiny;
  for (let place = 0; place < upTo.length; place++) {
    sum += upTo[place]!;
    upTo[place] = sum;
  }
  return upTo;
}

/** The place of the first of the ascending numbers that is above `rank`. */
function firstAbove(ascending: Float64Array, rank: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ascending[middle]! > rank) high = middle;
    else low = middle + 1;
  }
  return low;
}

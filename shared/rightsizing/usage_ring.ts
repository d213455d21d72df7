/**
 * Usage over a rolling window, in bounded memory: a ring of histograms, one for each part of the window, and how it
 * is stored. A histogram counts samples in logarithmic buckets: each is as wide, in proportion to its samples, as
 * any other.
 *
 * @module
 */
import * as z from "zod";
import type { ResourceName } from "../api/pod.ts";
import {
  type Distribution,
  isSampleOf,
  quantileOf,
  type SampleWindow,
  type UsageSample,
} from "./distribution.ts";

/**
 * The largest difference between a sample and the value of its bucket, as a share of the sample. One percent is
 * far below what a safety factor of 1.2 adds, and below the 10 % by which a recommendation must differ to be
 * applied.
 */
export const RELATIVE_ERROR = 0.01;

/**
 * Bucket b holds [start × growth^b, start × growth^(b+1)), and stands for start × growth^b × (1 + error):
 * that is as far from its start as from its end, in proportion, when growth = (1 + error) / (1 − error)
 * (Masson, Rim, Lee: DDSketch, 2019, with the interval's closed end on the other side).
 */
const LOG_GROWTH = Math.log((1 + RELATIVE_ERROR) / (1 - RELATIVE_ERROR));

/** Where the buckets of a resource lie. */
export interface BucketScale {
  /** The first bucket's start. Smaller values, zero included, count as 0. */
  readonly start: number;
  /** Number of buckets. The last counts values beyond it, too; only the maximum is exact. */
  readonly buckets: number;
}

/**
 * CPU from 1 m, the least that a request may differ by, to 2^20 m: a thousand CPUs, as the largest
 * machines have. ln 2^20 / 0.0200007 = 693.1 buckets.
 *
 * Memory from 1 MiB, below which no process of a container runs for long, to 2^44 bytes (16 TiB).
 * ln 2^24 / 0.0200007 = 831.7 buckets.
 */
export const BUCKET_SCALES: Readonly<Record<ResourceName, BucketScale>> = {
  cpu: { start: 1, buckets: 694 },
  memory: { start: 2 ** 20, buckets: 832 },
};

/** The bucket of a value, or −1 for one that counts as 0. */
function bucketOf(value: number, { start, buckets }: BucketScale): number {
  if (value < start) return -1;
  return Math.min(buckets - 1, Math.floor(Math.log(value / start) / LOG_GROWTH));
}

/** The value that stands for all samples of a bucket; 0 for bucket −1. */
function bucketValue(bucket: number, { start }: BucketScale): number {
  return bucket < 0 ? 0 : start * Math.exp(bucket * LOG_GROWTH) * (1 + RELATIVE_ERROR);
}

/**
 * A histogram as plain data, since a container has dozens. It has only the span from the lowest to the highest
 * bucket in use, two bytes for each.
 */
export interface UsageHistogram {
  count: number;
  /** Exact; without samples Infinity and −Infinity, as the times are. */
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
  /** The high bits of the counts, by bucket: multiples of 65,536 samples. Without an entry: 0. */
  carries?: Map<number, number>;
}

/** Spans grow by whole blocks, so that noise around one value seldom needs a new array. */
const BLOCK = 16;
const CARRY = 2 ** 16;
const NO_COUNTS = new Uint16Array(0);

type Extremes = Pick<UsageHistogram, "min" | "max" | "oldestMs" | "newestMs">;

const NONE_SEEN: Extremes = {
  min: Infinity,
  max: -Infinity,
  oldestMs: Infinity,
  newestMs: -Infinity,
};

function histogramOf(extremes: Extremes): UsageHistogram {
  return { count: 0, ...extremes, tiny: 0, first: 0, counts: NO_COUNTS };
}

function widenExtremes(target: UsageHistogram, { min, max, oldestMs, newestMs }: Extremes): void {
  target.min = Math.min(target.min, min);
  target.max = Math.max(target.max, max);
  target.oldestMs = Math.min(target.oldestMs, oldestMs);
  target.newestMs = Math.max(target.newestMs, newestMs);
}

/** Counts samples of a bucket, −1 for those below the first, and leaves minimum, maximum and times to the caller. */
function addCount(histogram: UsageHistogram, bucket: number, count: number): void {
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

/** Samples of each bucket of the span. */
function countsOf({ first, counts, carries }: UsageHistogram): number[] {
  return Array.from(counts, (low, place) => low + CARRY * (carries?.get(first + place) ?? 0));
}

/** Adds all of `source` to `target`, as if each of its samples had been added: one step a bucket. */
function mergeInto(target: UsageHistogram, source: UsageHistogram): void {
  widenExtremes(target, source);
  addCount(target, -1, source.tiny);
  const { first, counts } = source;
  if (counts.length === 0) return;
  // Both ends first, so that the target's span is copied at most twice.
  widen(target, first + counts.length - 1);
  widen(target, first);
  for (const [place, count] of countsOf(source).entries()) addCount(target, first + place, count);
}

/**
 * All samples of the histograms as they are now; later samples don't change it. The lowest and the
 * highest rank are exact, every other is within the relative error (below the first bucket within its
 * start), and never outside of minimum and maximum. Times as given where there are no samples.
 */
function distributionOf(
  histograms: readonly UsageHistogram[],
  { scale, emptyMs }: { readonly scale: BucketScale; readonly emptyMs: number },
): Distribution {
  const all = histogramOf(NONE_SEEN);
  for (const one of histograms) mergeInto(all, one);
  const { count, tiny, first } = all;
  const { min, max, oldestMs, newestMs } = count > 0
    ? all
    : { min: 0, max: 0, oldestMs: emptyMs, newestMs: emptyMs };
  let sum = tiny;
  /** How many samples lie in each bucket or below. */
  const upTo = countsOf(all).map((one) => sum += one);
  const quantile = quantileOf(count, (rank) => {
    if (rank === 0) return min;
    if (rank === count - 1) return max;
    const bucket = rank < tiny ? -1 : first + upTo.findIndex((below) => below > rank);
    return Math.min(max, Math.max(min, bucketValue(bucket, scale)));
  });
  return { count, min, max, oldestMs, newestMs, quantile };
}

/** The window of a ring and its parts. */
export interface RingShape {
  /** Whole milliseconds, at least 1. */
  readonly windowMs: number;
  /**
   * Parts of the window, 1 to {@linkcode MOST_SLOTS}. A part is left out once its oldest sample is outside of
   * the window, so a distribution covers all but one part at least: with 16, more than 22½ h of 24.
   *
   * @default {16}
   */
  readonly slots?: number;
}

/** More slots would take storage and memory, and would hardly be more exact. */
export const MOST_SLOTS = 256;

/**
 * One resource of one container, over all pods of its workload.
 *
 * Memory: at most slots + 1 histograms with at most 704 (CPU) or 832 (memory) buckets of two bytes. With
 * 16 slots that is 17 × 2 × (704 + 832) = 52,224 bytes for both resources when each bucket of each slot
 * is in use, and 450 bytes of objects for each of the 34 histograms: 66 KiB of heap in all. Usage that stays
 * within a factor of two takes 3 or 4 blocks a slot: 6 KiB, with all objects 17 KiB.
 */
export class UsageRing {
  readonly windowMs: number;
  readonly #slotCount: number;
  readonly #slotMs: number;
  readonly #scale: BucketScale;
  readonly #slots = new Map<number, UsageHistogram>();

  constructor(resource: ResourceName, { windowMs, slots = 16 }: RingShape) {
    this.windowMs = windowMs;
    this.#slotCount = slots;
    this.#slotMs = Math.ceil(windowMs / slots);
    this.#scale = BUCKET_SCALES[resource];
  }

  /** Counts a sample of the window in the slot of its time, however late it comes; leaves out others. */
  add(sample: UsageSample, nowMs: number): void {
    if (!isSampleOf({ nowMs, windowMs: this.windowMs }, sample)) return;
    const { atMs, value } = sample;
    const slot = this.#slotOf(atMs, nowMs);
    widenExtremes(slot, { min: value, max: value, oldestMs: atMs, newestMs: atMs });
    addCount(slot, bucketOf(value, this.#scale), 1);
  }

  /**
   * All slots with samples in the window, which may be shorter than the ring's; a slot that holds one
   * sample outside of it is left out whole.
   */
  distribution({ nowMs, windowMs }: SampleWindow): Distribution {
    const startMs = nowMs - windowMs;
    const inside = [...this.#slots.values()].filter(({ oldestMs, newestMs }) =>
      oldestMs > startMs && newestMs <= nowMs
    );
    return distributionOf(inside, { scale: this.#scale, emptyMs: startMs });
  }

  /**
   * Adds the slots of another ring of the same resource that are within this ring's window. A slot of another
   * length is added whole to the slot of its oldest sample, so that it is left out early rather than late.
   */
  absorb(slots: readonly UsageHistogram[], nowMs: number): void {
    for (const histogram of slots) {
      const { oldestMs, newestMs } = histogram;
      if (oldestMs <= nowMs - this.windowMs || newestMs > nowMs) continue;
      mergeInto(this.#slotOf(oldestMs, nowMs), histogram);
    }
  }

  /** The histograms of the slots, the oldest first. */
  contents(): UsageHistogram[] {
    return [...this.#slots.values()].toSorted((a, b) => a.oldestMs - b.oldestMs);
  }

  /** The slot of a time. Before a new one is created, slots that are too old or in the future are deleted. */
  #slotOf(atMs: number, nowMs: number): UsageHistogram {
    const number = Math.floor(atMs / this.#slotMs);
    const present = this.#slots.get(number);
    if (present !== undefined) return present;
    const current = Math.floor(nowMs / this.#slotMs);
    for (const other of this.#slots.keys()) {
      // The clock was set back after a slot in the future was written.
      if (other < current - this.#slotCount || other > current) this.#slots.delete(other);
    }
    const created = histogramOf(NONE_SEEN);
    this.#slots.set(number, created);
    return created;
  }
}

/** One container of a workload, over all its pods. */
export type ContainerRings = Readonly<Record<ResourceName, UsageRing>>;

/** Empty rings. */
export function createContainerRings(shape: RingShape): ContainerRings {
  return { cpu: new UsageRing("cpu", shape), memory: new UsageRing("memory", shape) };
}

const amount = z.number().min(0);
const count = z.number().int().min(0);
const MOST_BUCKETS = BUCKET_SCALES.memory.buckets;

/** Oldest and newest time, minimum, maximum, samples below the first bucket, then counts from a bucket on. */
const slotSchema = z.tuple([
  amount,
  amount,
  amount,
  amount,
  count,
  count.max(MOST_BUCKETS),
  z.array(count).max(MOST_BUCKETS),
]);

/** The slots of both rings, the oldest first, as JSON has them. */
export const storedRingsSchema = z.object({
  cpu: z.array(slotSchema).max(MOST_SLOTS + 1),
  memory: z.array(slotSchema).max(MOST_SLOTS + 1),
});

/** The stored form of rings: one day of samples takes 1.9 kB, compressed and in base64. */
export type StoredRings = z.infer<typeof storedRingsSchema>;

type StoredSlot = z.infer<typeof slotSchema>;

/** The stored form of rings. */
export function storedRings({ cpu, memory }: ContainerRings): StoredRings {
  return { cpu: cpu.contents().map(storedSlot), memory: memory.contents().map(storedSlot) };
}

function storedSlot(slot: UsageHistogram): StoredSlot {
  const { oldestMs, newestMs, min, max, tiny, first } = slot;
  const counts = countsOf(slot);
  const start = Math.max(0, counts.findIndex((one) => one > 0));
  const end = counts.findLastIndex((one) => one > 0) + 1;
  return [oldestMs, newestMs, min, max, tiny, first + start, counts.slice(start, end)];
}

/** Rings of this shape with the stored slots of the present window, whatever shape these were stored in. */
export function restoredRings(
  stored: StoredRings,
  { shape, nowMs }: { readonly shape: RingShape; readonly nowMs: number },
): ContainerRings {
  const rings = createContainerRings(shape);
  rings.cpu.absorb(stored.cpu.map(restoredSlot), nowMs);
  rings.memory.absorb(stored.memory.map(restoredSlot), nowMs);
  return rings;
}

function restoredSlot(
  [oldestMs, newestMs, min, max, tiny, first, counts]: StoredSlot,
): UsageHistogram {
  const histogram = histogramOf({ oldestMs, newestMs, min, max });
  addCount(histogram, -1, tiny);
  for (const [place, count] of counts.entries()) addCount(histogram, first + place, count);
  return histogram;
}

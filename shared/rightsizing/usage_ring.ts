/**
 * Usage over a rolling window, in bounded memory: a ring of histograms, one for each part of the window, and how it
 * is stored.
 *
 * @module
 */
import * as z from "zod";
import {
  type Distribution,
  type SampleFault,
  sampleFault,
  type SampleWindow,
  type UsageSample,
} from "./distribution.ts";
import type { ResourceName } from "../api/pod.ts";
import {
  addCount,
  addSample,
  BUCKET_SCALES,
  countAt,
  createUsageHistogram,
  distributionOfHistograms,
  mergeInto,
  type UsageHistogram,
} from "./usage_histogram.ts";

/** What a ring covers. */
export interface RingShape {
  /** Whole milliseconds, at least 1. */
  readonly windowMs: number;
  /**
   * Parts of the window, 1 to {@linkcode MOST_SLOTS}. A part leaves when its oldest sample must, so what
   * is answered covers all but one part of the window at least: with 16, more than 22½ h of 24.
   *
   * @default {16}
   */
  readonly slots?: number;
}

/** More would take text and memory, and would not be more exact. */
export const MOST_SLOTS = 256;

const DEFAULT_SLOTS = 16;

/**
 * One resource of one container, over all pods of its workload.
 *
 * Memory: at most slots + 1 histograms with at most 704 (CPU) or 832 (memory) buckets of two bytes. With
 * 16 slots that is 17 × 2 × (704 + 832) = 52,224 bytes for both resources when each bucket of each slot
 * is in use, and 450 bytes of objects for each of the 34 histograms: 66 KiB in all, as the heap grows by. Usage that stays
 * within a factor of two takes 3 or 4 blocks a slot, 6 KiB with all objects 17 KiB.
 */
export interface UsageRing {
  readonly windowMs: number;
  /**
   * Counts a sample in the slot of its time, however late it comes, or says why it does not count.
   * Rounded to the scale's parts (nanocores, bytes), its time up to whole milliseconds.
   */
  add(sample: UsageSample, nowMs: number): SampleFault | undefined;
  /**
   * All slots with samples in the window, which may be shorter than the ring's; a slot that holds
   * one sample outside of it is left out whole. Throws a `RangeError` for a longer window.
   */
  distribution(window: SampleWindow): Distribution;
  /**
   * Adds what another ring of the resource held, but for what is outside of this one's window. Where
   * the other's slots were of another length, each goes whole to the slot of its oldest sample, so that
   * it leaves early rather than late.
   */
  absorb(slots: readonly UsageHistogram[], nowMs: number): void;
  /** The slots that are kept, the oldest first. */
  contents(): UsageHistogram[];
}

/** An empty ring. Throws a `RangeError` for a shape that cannot be. */
export function createUsageRing(
  resource: ResourceName,
  { windowMs, slots = DEFAULT_SLOTS }: RingShape,
): UsageRing {
  if (!Number.isSafeInteger(windowMs) || windowMs < 1) {
    throw new RangeError(
      `Cannot make a ring: windowMs is ${windowMs}, expected a whole number of at least 1`,
    );
  }
  if (!Number.isInteger(slots) || slots < 1 || slots > MOST_SLOTS) {
    throw new RangeError(`Cannot make a ring: slots is ${slots}, expected 1 to ${MOST_SLOTS}`);
  }
  const scale = BUCKET_SCALES[resource];
  const slotMs = Math.ceil(windowMs / slots);
  const kept = new Map<number, UsageHistogram>();

  /** The slot of a time. A new one ends those that the window has left behind, or that lie ahead. */
  const slotOf = (atMs: number, nowMs: number): UsageHistogram => {
    const number = Math.floor(atMs / slotMs);
    const present = kept.get(number);
    if (present !== undefined) return present;
    const current = Math.floor(nowMs / slotMs);
    for (const other of kept.keys()) {
      // A slot ahead is of a clock that has been set back since.
      if (other < current - slots || other > current) kept.delete(other);
    }
    const created = createUsageHistogram();
    kept.set(number, created);
    return created;
  };

  return {
    windowMs,
    add(sample, nowMs) {
      const fault = sampleFault(sample, { nowMs, windowMs });
      if (fault !== undefined) return fault;
      const { value } = sample;
      const atMs = Math.ceil(sample.atMs);
      const parts = Math.round(value * scale.partsPerUnit);
      if (parts > Number.MAX_SAFE_INTEGER) return "not a quantity";
      addSample(slotOf(atMs, nowMs), { atMs, value: parts / scale.partsPerUnit }, { scale });
      return undefined;
    },
    distribution(window) {
      if (!(window.windowMs <= windowMs)) {
        throw new RangeError(
          `Cannot answer for ${window.windowMs} ms: the ring covers ${windowMs} ms`,
        );
      }
      const startMs = window.nowMs - window.windowMs;
      const inside = [...kept.values()].filter(({ oldestMs, newestMs }) =>
        oldestMs > startMs && newestMs <= window.nowMs
      );
      return distributionOfHistograms(inside, { scale, emptyMs: startMs });
    },
    absorb(slots, nowMs) {
      for (const histogram of slots) {
        const { oldestMs, newestMs } = histogram;
        if (oldestMs <= nowMs - windowMs || newestMs > nowMs) continue;
        mergeInto(slotOf(oldestMs, nowMs), histogram);
      }
    },
    contents() {
      return [...kept.values()].toSorted((a, b) => a.oldestMs - b.oldestMs);
    },
  };
}

/** One container of a workload, over all its pods. */
export type ContainerRings = Readonly<Record<ResourceName, UsageRing>>;

/** Empty rings. */
export function createContainerRings(shape: RingShape): ContainerRings {
  return { cpu: createUsageRing("cpu", shape), memory: createUsageRing("memory", shape) };
}

const amount = z.number().min(0);
const count = z.number().int().min(0);

/** Oldest and newest time, minimum, maximum, samples below the first bucket, then counts from a bucket on. */
const slotSchema = z.tuple([amount, amount, amount, amount, count, count, z.array(count)]);

/** The slots of both rings, the oldest first, as JSON has them. */
export const storedRingsSchema = z.object({
  cpu: z.array(slotSchema).max(MOST_SLOTS + 1),
  memory: z.array(slotSchema).max(MOST_SLOTS + 1),
});

/** Rings as they are stored; one day of samples takes 1.9 kB, compressed and in base64. */
export type StoredRings = z.infer<typeof storedRingsSchema>;

type StoredSlot = z.infer<typeof slotSchema>;

/** What is stored of rings: all that they hold. */
export function storedRings({ cpu, memory }: ContainerRings): StoredRings {
  return { cpu: cpu.contents().map(storedSlot), memory: memory.contents().map(storedSlot) };
}

function storedSlot(slot: UsageHistogram): StoredSlot {
  const { oldestMs, newestMs, min, max, tiny, first } = slot;
  const counts = Array.from(slot.counts, (_, place) => countAt(slot, first + place));
  const start = Math.max(0, counts.findIndex((one) => one > 0));
  const end = counts.findLastIndex((one) => one > 0) + 1;
  return [oldestMs, newestMs, min, max, tiny, first + start, counts.slice(start, end)];
}

/**
 * Rings of this shape with what is stored of the present window, whatever shape it was stored in. Throws
 * a `SyntaxError` for buckets that a scale does not have.
 */
export function restoredRings(
  stored: StoredRings,
  { shape, nowMs }: { readonly shape: RingShape; readonly nowMs: number },
): ContainerRings {
  const rings = createContainerRings(shape);
  for (const resource of ["cpu", "memory"] as const) {
    rings[resource].absorb(stored[resource].map((slot) => histogramOf(slot, resource)), nowMs);
  }
  return rings;
}

function histogramOf(
  [oldestMs, newestMs, min, max, tiny, first, counts]: StoredSlot,
  resource: ResourceName,
): UsageHistogram {
  const end = first + counts.length;
  const { buckets } = BUCKET_SCALES[resource];
  if (end > buckets) {
    throw new SyntaxError(
      `Cannot read ${resource} usage: it has ${end} buckets, expected at most ${buckets}`,
    );
  }
  const histogram = { ...createUsageHistogram(), oldestMs, newestMs, min, max };
  addCount(histogram, { bucket: -1, count: tiny });
  for (const [place, count] of counts.entries()) {
    addCount(histogram, { bucket: first + place, count });
  }
  return histogram;
}

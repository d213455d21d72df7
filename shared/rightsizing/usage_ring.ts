/**
 * Usage over a rolling window, in bounded memory: a ring of histograms, one for each part of the window.
 *
 * @module
 */
import type { ResourceName } from "../api/pod.ts";
import { BUCKET_SCALES } from "./bucket_scale.ts";
import type { Distribution } from "./distribution.ts";
import {
  addSample,
  createUsageHistogram,
  distributionOfHistograms,
  mergeInto,
  type UsageHistogram,
} from "./usage_histogram.ts";
import {
  type SampleFault,
  sampleFault,
  type SampleWindow,
  type UsageSample,
} from "./usage_sample.ts";

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

/** More would make texts and memory large without telling anybody more. */
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
  readonly resource: ResourceName;
  readonly windowMs: number;
  readonly slots: number;
  readonly slotMs: number;
  /**
   * Counts a sample in the slot of its time, however late it comes, or says why it does not count.
   * Rounded to the scale's parts (nanocores, bytes), its time up to whole milliseconds.
   */
  add(sample: UsageSample, nowMs: number): SampleFault | undefined;
  /**
   * All slots whose samples lie in the window, which may be shorter than the ring's; a slot that holds
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
    resource,
    windowMs,
    slots,
    slotMs,
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
          `Cannot look back ${window.windowMs} ms: the ring covers ${windowMs} ms`,
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

/**
 * The two rings of a container, and how they are stored.
 *
 * @module
 */
import * as z from "zod";
import { BUCKET_SCALES } from "./bucket_scale.ts";
import type { ResourceName } from "./distribution.ts";
import { addCount, countAt, createUsageHistogram, type UsageHistogram } from "./usage_histogram.ts";
import { createUsageRing, MOST_SLOTS, type RingShape, type UsageRing } from "./usage_ring.ts";

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

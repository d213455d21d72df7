/**
 * What a container's rings hold as one line of text, so that a restart forgets nothing.
 *
 * Version 1 is `1:`, a body in the six-bit characters of `bit_text.ts`, and six of them as a check sum
 * over all before. The body is the coarseness (2 bits), then CPU, then memory, each:
 *
 * - number of slots (small); for memory whether their times are CPU's (1 bit), since a sampler reads both
 *   at once; else whether times are in whole seconds (1 bit) and, for each slot, its oldest time less
 *   that of the slot before and its newest less its oldest (sized)
 * - for each slot the minimum and the maximum less it, in parts of a unit (sized), the count of tiny
 *   samples (small), then the buckets: first (10 bits), how many (small), count of each (small)
 *
 * A later version must read this one: the format is only ever added to under another number.
 *
 * @module
 */
import type { ResourceName } from "../api/pod.ts";
import { type BitReader, type BitWriter, createBitReader, createBitWriter } from "./bit_text.ts";
import { BUCKET_SCALES, type BucketScale } from "./bucket_scale.ts";
import { sealText, unsealText } from "./sealed_text.ts";
import { addCount, countAt, createUsageHistogram, type UsageHistogram } from "./usage_histogram.ts";
import { MOST_SLOTS } from "./usage_ring.ts";

/** The slots of both of a container's rings, the oldest first. */
export type ContainerSlots = Readonly<Record<ResourceName, readonly UsageHistogram[]>>;

/** How much is lost for a shorter text: buckets are taken together by 1, 3 or 9. */
export type Coarseness = 0 | 1 | 2;

const VERSION = 1;
const WHAT = "usage checkpoint";
const COARSENESS_BITS = 2;
const FIRST_BITS = 10;
const RESOURCES = ["cpu", "memory"] as const;

/**
 * The text, in ASCII. With coarseness 0 it holds the slots exactly, with 1 and 2 its samples are known
 * within 3.1 and 9.5 % instead of 1: minimum, maximum, times and counts stay exact, and encoding once more what was
 * read loses nothing further.
 */
export function encodeSlots(
  slots: ContainerSlots,
  { coarseness = 0 }: { readonly coarseness?: Coarseness } = {},
): string {
  const writer = createBitWriter();
  writer.fixed(coarseness, COARSENESS_BITS);
  for (const resource of RESOURCES) {
    const all = slots[resource];
    writer.small(all.length);
    if (resource === "memory") {
      const same = sameTimes(all, slots.cpu);
      writer.fixed(same ? 1 : 0, 1);
      if (!same) writeTimes(writer, all);
    } else writeTimes(writer, all);
    const scale = BUCKET_SCALES[resource];
    for (const one of all) writeBuckets(writer, one, { scale, width: 3 ** coarseness });
  }
  return sealText(writer.text(), VERSION);
}

/**
 * The slots that a text holds. Throws a `SyntaxError` that says what is wrong with one of an unknown
 * version, or one that was cut or changed.
 */
export function decodeSlots(text: string): ContainerSlots {
  const reader = createBitReader(unsealText(text, { version: VERSION, what: WHAT }));
  const width = 3 ** reader.fixed(COARSENESS_BITS);
  const cpu = readSlots(reader, { scale: BUCKET_SCALES.cpu, width });
  const memory = readSlots(reader, { scale: BUCKET_SCALES.memory, width, timesOf: cpu });
  reader.end();
  return { cpu, memory };
}

function unreadable(why: string): SyntaxError {
  return new SyntaxError(`Cannot read ${WHAT}: ${why}`);
}

function sameTimes(some: readonly UsageHistogram[], others: readonly UsageHistogram[]): boolean {
  return some.length === others.length &&
    some.every(({ oldestMs, newestMs }, index) =>
      oldestMs === others[index]?.oldestMs && newestMs === others[index]?.newestMs
    );
}

function writeTimes(writer: BitWriter, slots: readonly UsageHistogram[]): void {
  const seconds = slots.every(({ oldestMs, newestMs }) =>
    oldestMs % 1000 === 0 && newestMs % 1000 === 0
  );
  writer.fixed(seconds ? 1 : 0, 1);
  const unitMs = seconds ? 1000 : 1;
  let beforeMs = 0;
  for (const { oldestMs, newestMs } of slots) {
    writer.sized((oldestMs - beforeMs) / unitMs);
    writer.sized((newestMs - oldestMs) / unitMs);
    beforeMs = oldestMs;
  }
}

/** How buckets are written. */
interface BucketOptions {
  readonly scale: BucketScale;
  /** Buckets taken together: odd, so that one of them is in the middle. */
  readonly width: number;
}

function writeBuckets(
  writer: BitWriter,
  histogram: UsageHistogram,
  { scale, width }: BucketOptions,
): void {
  const min = Math.round(histogram.min * scale.partsPerUnit);
  writer.sized(min);
  writer.sized(Math.round(histogram.max * scale.partsPerUnit) - min);
  writer.small(histogram.tiny);
  const start = Math.floor(histogram.first / width);
  const groups = new Float64Array(Math.ceil(histogram.counts.length / width) + 1);
  for (let place = 0; place < histogram.counts.length; place++) {
    const bucket = histogram.first + place;
    groups[Math.floor(bucket / width) - start]! += countAt(histogram, bucket);
  }
  const used = (count: number): boolean => count > 0;
  const first = Math.max(0, groups.findIndex(used));
  const end = groups.findLastIndex(used) + 1;
  writer.fixed(end === 0 ? 0 : start + first, FIRST_BITS);
  writer.small(end === 0 ? 0 : end - first);
  for (let group = first; group < end; group++) writer.small(groups[group]!);
}

/** Reads what {@linkcode encodeSlots} writes of one resource. */
function readSlots(
  reader: BitReader,
  options: BucketOptions & { readonly timesOf?: readonly UsageHistogram[] },
): UsageHistogram[] {
  const { timesOf, ...bucketOptions } = options;
  const length = reader.small();
  if (length > MOST_SLOTS + 1) throw unreadable(`it has ${length} slots`);
  const slots = Array.from({ length }, createUsageHistogram);
  if (timesOf !== undefined && reader.fixed(1) === 1) {
    if (timesOf.length !== length) throw unreadable(`it has times of ${timesOf.length} slots`);
    for (const [index, { oldestMs, newestMs }] of timesOf.entries()) {
      Object.assign(slots[index]!, { oldestMs, newestMs });
    }
  } else readTimes(reader, slots);
  for (const slot of slots) readBuckets(reader, slot, bucketOptions);
  return slots;
}

function readTimes(reader: BitReader, slots: readonly UsageHistogram[]): void {
  const unitMs = reader.fixed(1) === 1 ? 1000 : 1;
  let beforeMs = 0;
  for (const slot of slots) {
    slot.oldestMs = beforeMs + reader.sized() * unitMs;
    slot.newestMs = slot.oldestMs + reader.sized() * unitMs;
    beforeMs = slot.oldestMs;
  }
}

function readBuckets(
  reader: BitReader,
  slot: UsageHistogram,
  { scale, width }: BucketOptions,
): void {
  const min = reader.sized();
  slot.min = min / scale.partsPerUnit;
  slot.max = (min + reader.sized()) / scale.partsPerUnit;
  addCount(slot, { bucket: -1, count: reader.small() });
  const first = reader.fixed(FIRST_BITS);
  const groups = reader.small();
  if ((first + groups - 1) * width >= scale.buckets) {
    throw unreadable(`it has bucket ${(first + groups - 1) * width} of ${scale.buckets}`);
  }
  for (let group = first; group < first + groups; group++) {
    const middle = Math.min(scale.buckets - 1, group * width + (width - 1) / 2);
    addCount(slot, { bucket: middle, count: reader.small() });
  }
}

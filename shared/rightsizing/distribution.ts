/**
 * Usage of one resource of one container over a window and over all pods of its workload, and its quantiles.
 *
 * @module
 */

/** Samples, whatever they are kept as: all of them, or a histogram. */
export interface Distribution {
  /** Samples that there are; 0: nothing below but the times means anything. */
  readonly count: number;
  /** The smallest and the largest sample, exactly. */
  readonly min: number;
  readonly max: number;
  /** Times of the oldest and the newest sample, ms since 1970; without any, the window's start. */
  readonly oldestMs: number;
  readonly newestMs: number;
  /**
   * The value at rank `fraction` × (count − 1), between two ranks by linear interpolation, never outside
   * of `min` and `max`; from a histogram within its relative error, from a compact one exactly at whole
   * percents and between two of them in a line. Throws a `RangeError` outside of 0..1
   * and where there are no samples.
   */
  quantile(fraction: number): number;
}

/** What a container used. */
export interface ContainerUsage {
  /** Name of the container in the workload's pods. */
  readonly container: string;
  /** Millicores: rates over a short range, not over the window, which would hide peaks. */
  readonly cpu: Distribution;
  /** Bytes of the working set. */
  readonly memory: Distribution;
}

/** Values of 0 or more, in order. */
export interface OrderedValues {
  readonly count: number;
  /** The value at a rank, 0 to count − 1; never less than that at the rank before. */
  valueAt(rank: number): number;
}

/** Fractions that people name are whole counts of these: 0.5, 0.9, 0.99, 0.999. */
const PARTS = 10_000;

/**
 * The value at rank `fraction` × (count − 1), between two ranks by linear interpolation (definition 7
 * of Hyndman and Fan, Sample Quantiles in Statistical Packages, 1996): of 100, 200, 300 the P50 is 200
 * and the P90 280.
 *
 * In binary 0.9 × 2 is not quite 1.8. So the rank is taken in ten-thousandths where the fraction is a
 * whole number of them, and whole samples whose quantile is whole give exactly that, as long as they
 * differ by less than 2^53 / 10,000, 838 GiB.
 *
 * Throws a `RangeError` outside of 0..1 and where there are no values.
 */
export function interpolatedQuantile(values: OrderedValues, fraction: number): number {
  if (!(fraction >= 0 && fraction <= 1)) {
    throw new RangeError(`Cannot take a quantile: ${fraction} is not between 0 and 1`);
  }
  if (!(values.count > 0)) throw new RangeError("Cannot take a quantile: there are 0 samples");
  const last = values.count - 1;
  const named = Math.round(fraction * PARTS);
  const parts = named / PARTS === fraction ? PARTS : 1;
  const rank = (parts === PARTS ? named : fraction) * last;
  const below = Math.floor(rank / parts);
  const low = values.valueAt(below);
  const rest = rank - below * parts;
  if (rest === 0) return low;
  // Amounts are not negative: rounding then never carries the sum beyond the higher value.
  return low + (values.valueAt(below + 1) - low) * rest / parts;
}

/** What one container of one pod used at a time: millicores or bytes. */
export interface UsageSample {
  /** ms since 1970. */
  readonly atMs: number;
  readonly value: number;
}

/** The time that samples are taken from: later than now − window, and not later than now. */
export interface SampleWindow {
  /** ms since 1970. */
  readonly nowMs: number;
  readonly windowMs: number;
}

/** Why a sample does not count. */
export type SampleFault = "not a quantity" | "too old" | "from the future";

/**
 * Why the sample does not count in the window (now − window, now], or undefined when it does. Sources
 * answer NaN where a rate had one point, and a counter that was reset can give a negative rate: neither
 * says what was used. Clocks of two machines differ, so samples from the future do come.
 */
export function sampleFault(sample: UsageSample, window: SampleWindow): SampleFault | undefined {
  const { atMs, value } = sample;
  if (!Number.isFinite(value) || value < 0 || !Number.isFinite(atMs)) return "not a quantity";
  if (atMs > window.nowMs) return "from the future";
  return atMs > window.nowMs - window.windowMs ? undefined : "too old";
}

/**
 * The exact distribution of these values, which are copied: a typed array of millions of them takes
 * eight bytes each, and sorts by number.
 */
export function samplesDistribution(
  values: Float64Array,
  { oldestMs, newestMs }: { readonly oldestMs: number; readonly newestMs: number },
): Distribution {
  const sorted = values.slice().sort();
  const count = sorted.length;
  const ordered = { count, valueAt: (rank: number): number => sorted[rank] ?? NaN };
  return {
    count,
    min: sorted[0] ?? 0,
    max: sorted[count - 1] ?? 0,
    oldestMs,
    newestMs,
    quantile: (fraction) => interpolatedQuantile(ordered, fraction),
  };
}

/**
 * The exact distribution of all samples together, whichever pod each came from, in any order. What does
 * not count in the window (see `sampleFault`) is left out, so `count` is what is left. Where that is
 * nothing, both times are the window's start, since which nothing was seen.
 */
export function distributionOfSamples(
  samples: Iterable<UsageSample>,
  window: SampleWindow,
): Distribution {
  const kept: number[] = [];
  let oldestMs = Infinity;
  let newestMs = -Infinity;
  for (const sample of samples) {
    if (sampleFault(sample, window) !== undefined) continue;
    kept.push(sample.value);
    oldestMs = Math.min(oldestMs, sample.atMs);
    newestMs = Math.max(newestMs, sample.atMs);
  }
  const startMs = window.nowMs - window.windowMs;
  const times = kept.length === 0
    ? { oldestMs: startMs, newestMs: startMs }
    : { oldestMs, newestMs };
  return samplesDistribution(Float64Array.from(kept), times);
}

const PERCENTS = 100;

/**
 * The same distribution by its quantiles at whole percents, 0 to 100, which are exact: those are what
 * policies can ask for. Between two of them it goes in a line. It takes 0.8 KB, where 30 days of samples
 * take 86 KB, and keeps nothing of `usage`; one that has no more samples than that is `usage` itself.
 */
export function compactDistribution(usage: Distribution): Distribution {
  if (usage.count <= PERCENTS + 1) return usage;
  const { count, min, max, oldestMs, newestMs } = usage;
  return { count, min, max, oldestMs, newestMs, quantile: quantileOf(tableOf(usage)) };
}

// Apart from each other: what a closure uses, all closures of its function keep.
function tableOf(usage: Distribution): Float64Array {
  const table = new Float64Array(PERCENTS + 1);
  for (let percent = 0; percent <= PERCENTS; percent++) {
    table[percent] = usage.quantile(percent / PERCENTS);
  }
  return table;
}

function quantileOf(table: Float64Array): Distribution["quantile"] {
  const ordered = { count: table.length, valueAt: (rank: number): number => table[rank] ?? NaN };
  return (fraction) => interpolatedQuantile(ordered, fraction);
}

/** One resource of one container: millicores or bytes, whole. */
export interface DistributionSummary {
  /** Samples that it is of; at least one. */
  readonly samples: number;
  readonly min: number;
  readonly p50: number;
  readonly p90: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

/** A container; a resource without samples is absent. */
export interface UsageSummary {
  readonly container: string;
  readonly cpu?: DistributionSummary;
  readonly memory?: DistributionSummary;
}

/** The summary of what a container used over the window. */
export function usageSummaryOf({ container, cpu, memory }: ContainerUsage): UsageSummary {
  return {
    container,
    ...(cpu.count > 0 ? { cpu: summaryOf(cpu) } : {}),
    ...(memory.count > 0 ? { memory: summaryOf(memory) } : {}),
  };
}

function summaryOf(usage: Distribution): DistributionSummary {
  const at = (fraction: number): number => whole(usage.quantile(fraction));
  return {
    samples: usage.count,
    min: whole(usage.min),
    p50: at(0.5),
    p90: at(0.9),
    p95: at(0.95),
    p99: at(0.99),
    max: whole(usage.max),
  };
}

/** To the nearest, which keeps the order; as far as can be counted, which a quantity must be. */
function whole(amount: number): number {
  return Math.min(Math.round(Math.max(0, amount)), Number.MAX_SAFE_INTEGER);
}

/**
 * Usage of one resource of one container over a window and over all pods of its workload, and its quantiles.
 *
 * @module
 */

/** Figures and quantiles of samples, which are stored as a list or as a histogram. */
export interface Distribution {
  /** Number of samples. Without samples, only the times have a meaning. */
  readonly count: number;
  /** The smallest and the largest sample, exactly. */
  readonly min: number;
  readonly max: number;
  /** Times of the oldest and the newest sample, ms since 1970; without any, the window's start. */
  readonly oldestMs: number;
  readonly newestMs: number;
  /**
   * The value at rank `fraction` × (count − 1), `fraction` from 0 to 1, with linear interpolation between two
   * ranks, never outside of `min` and `max`. A histogram is exact to its relative error; a compact
   * distribution is exact at whole percents, and interpolates between them.
   */
  quantile(fraction: number): number;
}

/** The usage of a container. */
export interface ContainerUsage {
  /** Name of the container in the workload's pods. */
  readonly container: string;
  /** Millicores: rates over a short range, not over the window, which would hide peaks. */
  readonly cpu: Distribution;
  /** Bytes of the working set. */
  readonly memory: Distribution;
}

/** The usual fractions are whole numbers of ten-thousandths: 0.5, 0.9, 0.99, 0.999. */
const PARTS = 10_000;

/**
 * The quantiles of `count` values by rank, from 0 on: the value at rank `fraction` × (count − 1), between
 * two ranks by linear interpolation (definition 7 of Hyndman and Fan, Sample Quantiles in Statistical
 * Packages, 1996): of 100, 200, 300 the P50 is 200 and the P90 280.
 *
 * In binary 0.9 × 2 is not quite 1.8. So the rank is taken in ten-thousandths where the fraction is a
 * whole number of them, and whole samples with a whole quantile give exactly that, as long as they
 * differ by less than 2^53 / 10,000, 838 GiB.
 */
export function quantileOf(
  count: number,
  valueAt: (rank: number) => number,
): Distribution["quantile"] {
  return (fraction) => {
    const rounded = Math.round(fraction * PARTS);
    const parts = rounded / PARTS === fraction ? PARTS : 1;
    const rank = (parts === PARTS ? rounded : fraction) * (count - 1);
    const below = Math.floor(rank / parts);
    const low = valueAt(below);
    const remainder = rank - below * parts;
    if (remainder === 0) return low;
    // Amounts are not negative: rounding then never carries the sum beyond the higher value.
    return low + (valueAt(below + 1) - low) * remainder / parts;
  };
}

/** Usage of one container of one pod at a time: millicores or bytes. */
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

/**
 * Whether the sample counts in the window (now − window, now]. Sources answer NaN where a rate had one
 * point, and a counter that was reset can give a negative rate: neither is usage. Clocks of two machines
 * differ, so samples from the future do come.
 */
export function isSampleOf({ nowMs, windowMs }: SampleWindow, sample: UsageSample): boolean {
  const { atMs, value } = sample;
  return value >= 0 && value < Infinity && atMs > nowMs - windowMs && atMs <= nowMs;
}

/**
 * The exact distribution of these values, which are copied: a typed array of millions of them takes
 * eight bytes each, and sorts by number.
 */
export function samplesDistribution(
  values: Float64Array,
  times: Pick<Distribution, "oldestMs" | "newestMs">,
): Distribution {
  const sorted = values.slice().sort();
  const count = sorted.length;
  return {
    count,
    min: sorted[0] ?? 0,
    max: sorted[count - 1] ?? 0,
    ...times,
    quantile: quantileOfSorted(sorted),
  };
}

// A function of its own: a closure keeps alive all that any closure of the same function uses.
function quantileOfSorted(sorted: Float64Array): Distribution["quantile"] {
  return quantileOf(sorted.length, (rank) => sorted[rank] ?? NaN);
}

const PERCENTS = 100;

/**
 * Reduces a distribution to its quantiles at whole percents, 0 to 100, which are all that policies can ask for;
 * others are interpolated. Takes 0.8 KB instead of 86 KB for 30 days of samples, and does not refer to `usage`.
 * Returns `usage` itself if it has no more samples than that.
 */
export function compactDistribution(usage: Distribution): Distribution {
  if (usage.count <= PERCENTS + 1) return usage;
  const percents = Float64Array.from(
    { length: PERCENTS + 1 },
    (_, percent) => usage.quantile(percent / PERCENTS),
  );
  return { ...usage, quantile: quantileOfSorted(percents) };
}

/** One resource of one container: millicores or bytes, whole. */
export interface DistributionSummary {
  /** Number of samples, at least one. */
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

/** The summary of a container's usage over the window. */
export function usageSummaryOf({ container, cpu, memory }: ContainerUsage): UsageSummary {
  return {
    container,
    ...(cpu.count > 0 ? { cpu: summaryOf(cpu) } : {}),
    ...(memory.count > 0 ? { memory: summaryOf(memory) } : {}),
  };
}

function summaryOf({ count, min, max, quantile }: Distribution): DistributionSummary {
  return {
    samples: count,
    min: whole(min),
    p50: whole(quantile(0.5)),
    p90: whole(quantile(0.9)),
    p95: whole(quantile(0.95)),
    p99: whole(quantile(0.99)),
    max: whole(max),
  };
}

/** Rounds to the nearest, which keeps the order; at most `Number.MAX_SAFE_INTEGER`, as quantities are. */
function whole(amount: number): number {
  return Math.min(Math.round(amount), Number.MAX_SAFE_INTEGER);
}

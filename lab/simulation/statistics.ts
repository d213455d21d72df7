/**
 * Mean, quantile, and how fast a series grows.
 *
 * @module
 */

/** Mean of the values; 0 without any. */
export function mean(values: Float32Array | Float64Array): number {
  let sum = 0;
  for (const value of values) sum += value;
  return values.length === 0 ? 0 : sum / values.length;
}

/**
 * The value that the share `share` (0 to 1) of the values lies below, interpolated linearly between
 * neighbours (definition 7 of Hyndman and Fan, 1996). NaN without values. Worked: of 1, 2, 3, 4 the
 * median is 2.5 and the 95th percentile 3.85.
 */
export function quantile(values: Iterable<number>, share: number): number {
  if (!(share >= 0 && share <= 1)) {
    throw new RangeError(`Cannot take a quantile: ${share} is not between 0 and 1`);
  }
  const sorted = Float64Array.from(values).sort();
  const position = (sorted.length - 1) * share;
  const left = Math.floor(position);
  const low = sorted[left] ?? NaN;
  const high = sorted[left + 1] ?? low;
  return low + (high - low) * (position - left);
}

/** A line through a series. Per unit of time of the samples. */
export interface Slope {
  readonly perUnit: number;
  /** Standard error of {@linkcode perUnit}. */
  readonly error: number;
}

/**
 * The slope of the line of least squares, b = Sxy / Sxx, and its standard error,
 * sqrt(sum of squared residuals / (n - 2) / Sxx). Source: Draper and Smith, "Applied Regression
 * Analysis", 3rd ed., sections 1.2 and 1.4. The error is that of independent residuals, as the
 * means of long blocks have them. Throws a `RangeError` for fewer than 3 samples.
 */
export function slopeOf(samples: readonly (readonly [at: number, value: number])[]): Slope {
  const n = samples.length;
  if (n < 3) throw new RangeError(`Cannot fit a line: there are ${n} samples, expected 3 or more`);
  const meanAt = samples.reduce((sum, [at]) => sum + at, 0) / n;
  const mean = samples.reduce((sum, [, value]) => sum + value, 0) / n;
  let [sxx, sxy] = [0, 0];
  for (const [at, value] of samples) {
    sxx += (at - meanAt) ** 2;
    sxy += (at - meanAt) * (value - mean);
  }
  const perUnit = sxy / sxx;
  const squares = samples.reduce(
    (sum, [at, value]) => sum + (value - mean - perUnit * (at - meanAt)) ** 2,
    0,
  );
  return { perUnit, error: Math.sqrt(squares / (n - 2) / sxx) };
}

/**
 * Time and mean of so many blocks of the series, one after the other, or of each sample where there are
 * fewer. Neighbouring samples follow a garbage collector's cycle, or the pods that are there, and would
 * make the error of a slope look too small. Source of the method of batch means: Algorithm, "Simulation
 * Modeling and Analysis", 5th ed., section 9.5.3.
 */
export function blockMeans(
  samples: readonly (readonly [at: number, value: number])[],
  blocks: number,
): (readonly [at: number, value: number])[] {
  const count = Math.min(blocks, samples.length);
  return Array.from({ length: count }, (_, i) => {
    const from = Math.floor(i * samples.length / count);
    const block = samples.slice(from, Math.floor((i + 1) * samples.length / count));
    const mean = (of: (one: readonly [number, number]) => number): number =>
      block.reduce((sum, one) => sum + of(one), 0) / block.length;
    return [mean(([at]) => at), mean(([, value]) => value)];
  });
}

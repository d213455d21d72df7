/**
 * How fast a series grows, and how well that is known.
 *
 * @module
 */

/** A line through a series. Per unit of time of the samples. */
export interface Slope {
  readonly perUnit: number;
  /** Standard error of {@linkcode perUnit}. */
  readonly error: number;
}

/**
 * The slope of the line of least squares, b = Sxy / Sxx, and its standard error,
 * sqrt(sum of squared residuals / (n - 2) / Sxx). Source: Draper and Smith, "Applied Regression
 * Analysis", 3rd ed., sections 1.2 and 1.4. The error is that of independent residuals: those of memory
 * follow one another for as long as a garbage collector's cycle, so the true error is larger, and a
 * verdict on it rather finds growth where there is none. Throws a `RangeError` for fewer than 3 samples.
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

/** True unless the series grows by more than `bound`, and by more than chance explains. */
export function isFlat({ perUnit, error }: Slope, bound: number): boolean {
  return perUnit <= Math.max(bound, 2 * error);
}

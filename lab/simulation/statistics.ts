/**
 * Mean and quantile.
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

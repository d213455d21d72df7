/**
 * The arithmetic mean.
 *
 * @module
 */

/** Mean of the values; 0 without any. */
export function mean(values: Float32Array | Float64Array): number {
  let sum = 0;
  for (const value of values) sum += value;
  return values.length === 0 ? 0 : sum / values.length;
}

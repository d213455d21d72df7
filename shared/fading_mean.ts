/**
 * A mean of a value that is read from time to time.
 *
 * @module
 */

/**
 * The mean that fades with the time constant `constantMs` after an interval of `intervalMs` with this
 * value; the value itself where there is no mean yet. However an interval of one value is cut, the mean
 * is the same.
 */
export function fadingMean(
  past: number | undefined,
  value: number,
  { intervalMs, constantMs }: { readonly intervalMs: number; readonly constantMs: number },
): number {
  return past === undefined ? value : value + (past - value) * Math.exp(-intervalMs / constantMs);
}

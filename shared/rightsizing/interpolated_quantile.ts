/**
 * Quantiles between ranks, in whole numbers where that is possible.
 *
 * @module
 */

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

/**
 * Rank correlation.
 *
 * @module
 */

/**
 * Spearman's coefficient, -1 to 1: the correlation of the ranks, equals sharing their mean rank. NaN
 * where one side is constant. Throws a RangeError for lists of different lengths.
 */
export function rankCorrelation(left: readonly number[], right: readonly number[]): number {
  if (left.length !== right.length) {
    throw new RangeError(
      `Cannot correlate: ${left.length} values against ${right.length}`,
    );
  }
  const [a, b] = [ranks(left), ranks(right)];
  // Ranks of n values always sum to n (n + 1) / 2.
  const mean = (left.length + 1) / 2;
  const product = (x: readonly number[], y: readonly number[]): number =>
    x.reduce((sum, rank, index) => sum + (rank - mean) * ((y[index] ?? mean) - mean), 0);
  return product(a, b) / Math.sqrt(product(a, a) * product(b, b));
}

/** The rank of each value from 1; equal values get the mean of theirs. */
export function ranks(values: readonly number[]): readonly number[] {
  const order = values.map((value, index) => ({ value, index }))
    .sort((a, b) => a.value - b.value);
  const result = values.map(() => 0);
  for (let from = 0; from < order.length;) {
    let to = from;
    while (to < order.length && order[to]?.value === order[from]?.value) to++;
    for (const { index } of order.slice(from, to)) result[index] = (from + 1 + to) / 2;
    from = to;
  }
  return result;
}

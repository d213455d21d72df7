/**
 * Two lists of the same length, walked together.
 *
 * @module
 */

/** The pairs of two lists, each made to what `combine` says; without it, the pairs themselves. */
export function pair<A, B>(first: readonly A[], second: readonly B[]): [A, B][];
export function pair<A, B, C>(
  first: readonly A[],
  second: readonly B[],
  combine: (a: A, b: B) => C,
): C[];
export function pair<A, B, C>(
  first: readonly A[],
  second: readonly B[],
  combine?: (a: A, b: B) => C,
): (C | [A, B])[] {
  if (first.length !== second.length) {
    throw new RangeError(`Cannot pair lists of ${first.length} and ${second.length} entries`);
  }
  return first.map((a, index) => {
    const b = second[index] as B;
    return combine === undefined ? [a, b] : combine(a, b);
  });
}

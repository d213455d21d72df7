/**
 * Two lists of the same length, walked together.
 *
 * @module
 */

/** The pairs of two lists, in their order. Throws a `RangeError` when their lengths differ. */
export function pair<A, B>(first: readonly A[], second: readonly B[]): [A, B][] {
  if (first.length !== second.length) {
    throw new RangeError(
      `Cannot pair lists: one has ${first.length} entries, one ${second.length}`,
    );
  }
  return first.map((a, index) => [a, second[index] as B]);
}

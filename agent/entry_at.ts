/**
 * An entry that must be there.
 *
 * @module
 */

/** The entry at an index. Throws a `RangeError` when the list is too short. */
export function entryAt<T>(list: readonly T[], index: number): T {
  const entry = list[index];
  if (entry === undefined) {
    throw new RangeError(`Cannot take entry ${index}: the list has ${list.length} entries`);
  }
  return entry;
}

/**
 * Reads JSON values of unknown shape: values that are not objects have no members.
 *
 * @module
 */

/** True for an object that is not an array. */
export function isMembers(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The members of an object; none for other values. */
export function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return isMembers(value) ? value : {};
}

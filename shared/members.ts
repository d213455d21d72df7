/**
 * Reads values of unknown shape by their members: what is of another kind is taken for absent.
 *
 * @module
 */

/** True of what has members. */
export function isMembers(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value's members; none where it has none. */
export function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return isMembers(value) ? value : {};
}

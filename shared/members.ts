/**
 * Reads values of unknown shape by their members: what is of another kind is taken for absent.
 *
 * @module
 */
import type { Labels } from "./api/label_selector.ts";

/** True of what has members. */
export function isMembers(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value's members; none where it has none. */
export function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return isMembers(value) ? value : {};
}

/** The members that are texts. */
export function textsIn(value: unknown): Labels {
  return Object.fromEntries(
    Object.entries(membersOf(value)).filter((entry): entry is [string, string] =>
      typeof entry[1] === "string"
    ),
  );
}

/** The value where it is text that is not empty. */
export function textIn(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

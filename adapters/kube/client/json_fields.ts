/**
 * Reads JSON that no schema has validated. Absent members, and members of another type, become undefined or
 * empty; `memberOf` and `listMemberOf` throw for another type.
 *
 * @module
 */
import { isMembers } from "../../../shared/members.ts";
import { quotedText } from "../../../shared/quoted_text.ts";

/** A JSON object, members unknown. */
export type JSONObject = Readonly<Record<string, unknown>>;

const EMPTY: JSONObject = Object.freeze({});

/** The value as an object; empty for anything else. */
export function objectOf(value: unknown): JSONObject {
  return isMembers(value) ? value : EMPTY;
}

/** The value as a list; empty for anything else. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The value as text; undefined for anything else, and for empty text. */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The value as a finite number; undefined for anything else. */
export function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** A member that is an object; empty when there is none. Throws a `TypeError` for anything else. */
export function memberOf(object: JSONObject, name: string): JSONObject {
  const value = object[name] ?? EMPTY;
  if (typeof value === "object" && !Array.isArray(value)) return value as JSONObject;
  throw new TypeError(`Cannot read an object of the API: ${name} is ${jsonText(value)}`);
}

/** A member that is a list; empty when there is none. Throws a `TypeError` for anything else. */
export function listMemberOf(object: JSONObject, name: string): readonly unknown[] {
  const value = object[name] ?? [];
  if (Array.isArray(value)) return value;
  throw new TypeError(`Cannot read an object of the API: ${name} is ${jsonText(value)}`);
}

/** The value in quotes, for a message. */
export function jsonText(value: unknown): string {
  return quotedText(JSON.stringify(value) ?? String(value));
}

/** The members that are text, as labels and annotations have them. */
export function textsOf(value: unknown): Readonly<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (const [name, text] of Object.entries(objectOf(value))) {
    if (typeof text === "string") texts[name] = text;
  }
  return texts;
}

/** `{[name]: value}`, or nothing when the value is undefined: for optional members. */
export function present<K extends string, V>(
  name: K,
  value: V | undefined,
): { [key in K]?: V } {
  return value === undefined ? {} : { [name]: value } as { [key in K]?: V };
}

/** `{[name]: list}`, or nothing when the list is empty: for optional members. */
export function someOf<K extends string, V>(
  name: K,
  list: readonly V[],
): { [key in K]?: readonly V[] } {
  return present(name, list.length === 0 ? undefined : list);
}

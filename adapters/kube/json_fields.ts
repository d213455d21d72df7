/**
 * Reading of JSON whose shape is the server's word only: what is absent or of another kind is
 * undefined or empty, never an exception.
 *
 * @module
 */
import { quotedText } from "../../shared/quoted_text.ts";

/** A JSON object, members unknown. */
export type JSONObject = Readonly<Record<string, unknown>>;

const EMPTY: JSONObject = Object.freeze({});

/** The value as an object; empty when it is none. */
export function objectOf(value: unknown): JSONObject {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? value as JSONObject
    : EMPTY;
}

/** The value as a list; empty when it is none. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The value as text; undefined when it is none or empty. */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The value as a finite number; undefined when it is none. */
export function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** The value as a whole number within these, by default any that can be counted; else undefined. */
export function wholeOf(
  value: unknown,
  { least = 0, most = Number.MAX_SAFE_INTEGER }: WholeRange = {},
): number | undefined {
  return Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most
    ? Number(value)
    : undefined;
}

/**
 * A member that is a whole number within these, as `wholeOf`; undefined when there is none. Throws a
 * `TypeError` for anything else.
 */
export function wholeMemberOf(
  object: JSONObject,
  name: string,
  { least, most }: WholeRange = {},
): number | undefined {
  const value = object[name] ?? undefined;
  const whole = wholeOf(value, { ...present("least", least), ...present("most", most) });
  if (whole !== undefined || value === undefined) return whole;
  throw new TypeError(`Cannot read an object of the API: ${name} is ${jsonText(value)}`);
}

/** Ends of a range, both within it. */
export interface WholeRange {
  /** @default {0} */
  readonly least?: number;
  /** @default {Number.MAX_SAFE_INTEGER} */
  readonly most?: number;
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

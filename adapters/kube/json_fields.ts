/**
 * Reading of JSON whose shape is the server's word only: what is absent or of another kind is
 * undefined or empty, never an exception.
 *
 * @module
 */

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

/**
 * Labels and annotations that switch something on or off.
 *
 * @module
 */

/** The values that a switch may have. */
export type SwitchValue = "true" | "false";

/** Labels or annotations, as an object has them. */
export type Texts = Readonly<Record<string, string>>;

/** The value under the key; undefined where there is none, or another. */
export function switchValue(texts: Texts, key: string): SwitchValue | undefined {
  const text = Object.hasOwn(texts, key) ? texts[key] : undefined;
  return text === "true" || text === "false" ? text : undefined;
}

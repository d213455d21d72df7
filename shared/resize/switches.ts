/**
 * Labels and annotations that switch something on or off.
 *
 * @module
 */

/** The words that a switch may have. */
export type SwitchWord = "true" | "false";

/** Labels or annotations, as an object has them. */
export type Texts = Readonly<Record<string, string>>;

/** The word under the key; undefined where there is none, and where it is another: that says nothing. */
export function switchWord(texts: Texts, key: string): SwitchWord | undefined {
  const text = Object.hasOwn(texts, key) ? texts[key] : undefined;
  return text === "true" || text === "false" ? text : undefined;
}

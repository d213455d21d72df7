/**
 * Makes text from an object safe for a terminal or a comment.
 *
 * @module
 */

/** What a terminal might obey, a reader can't see, or a line would end at. */
const UNPRINTED = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu;

/** The text on one line, without characters that are no text. */
export function plainLine(text: string): string {
  return text.replaceAll(UNPRINTED, " ").trim();
}

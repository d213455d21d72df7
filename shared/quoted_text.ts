/**
 * Text of unknown origin, made fit for a message, a terminal or a field of bounded length.
 *
 * @module
 */

/** Short names, as JSON has them. */
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
  ['"', '\\"'],
  ["\\", "\\\\"],
]);

/**
 * Characters that a reader can't see, and a terminal or a log might obey: control and format characters, halves
 * of surrogate pairs, unassigned code points, and all spaces but the plain one.
 */
const UNSEEN = /[\p{C}\p{Z}"\\]/gu;

/** The text in quotes, on one line: `"2 cores"`. A long one is cut: `"aaaa…" (1000 characters)`. */
export function quotedText(text: string, maxCharacters = 64): string {
  // A character has two UTF-16 units at most.
  const shown = [...text.slice(0, 2 * maxCharacters)].slice(0, maxCharacters).join("");
  const safe = shown.replaceAll(UNSEEN, escapeCharacter);
  return shown.length === text.length ? `"${safe}"` : `"${safe}…" (${text.length} characters)`;
}

function escapeCharacter(character: string): string {
  if (character === " ") return character;
  const code = character.codePointAt(0) ?? 0;
  return ESCAPES.get(character) ?? `\\u{${code.toString(16)}}`;
}

/** Characters that a terminal might obey, a reader can't see, or a line would end at. */
const UNPRINTED = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu;

/** The text on one line, without control and format characters. */
export function plainLine(text: string): string {
  return text.replaceAll(UNPRINTED, " ").trim();
}

const encoder = new TextEncoder();

/** The text cut to `maxBytes` of UTF-8, between characters, with `…` at a cut. */
export function cutToBytes(text: string, maxBytes: number): string {
  // A UTF-16 unit becomes three bytes at most.
  if (3 * text.length <= maxBytes || encoder.encode(text).length <= maxBytes) return text;
  const mark = "…";
  const room = new Uint8Array(Math.max(0, maxBytes - encoder.encode(mark).length));
  const { read } = encoder.encodeInto(text, room);
  return text.slice(0, read) + mark;
}

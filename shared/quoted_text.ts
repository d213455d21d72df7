/**
 * Text of unknown origin, made fit for a message, a terminal or a field of bounded length.
 *
 * @module
 */

/** How much of the text is shown. */
export interface QuoteOptions {
  /** Characters that are kept. @default {64} */
  readonly most?: number;
}

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
export function quotedText(text: string, { most = 64 }: QuoteOptions = {}): string {
  // Two units are the longest character.
  const shown = [...text.slice(0, 2 * most)].slice(0, most).join("");
  const safe = shown.replaceAll(UNSEEN, escaped);
  return shown.length === text.length ? `"${safe}"` : `"${safe}…" (${text.length} characters)`;
}

function escaped(character: string): string {
  if (character === " ") return character;
  const code = character.codePointAt(0) ?? 0;
  return ESCAPES.get(character) ?? `\\u{${code.toString(16)}}`;
}

/** Characters that a terminal might obey, a reader can't see, or a line would end at. */
const UNPRINTED = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu;

/** The text on one line, without characters that are no text. */
export function plainLine(text: string): string {
  return text.replaceAll(UNPRINTED, " ").trim();
}

const encoder = new TextEncoder();

/** As much of the text as `most` bytes of UTF-8 hold, cut between characters, with `…` for the rest. */
export function cutToBytes(text: string, most: number): string {
  // A UTF-16 unit becomes three bytes at most.
  if (3 * text.length <= most || encoder.encode(text).length <= most) return text;
  const mark = "…";
  const room = new Uint8Array(Math.max(0, most - encoder.encode(mark).length));
  const { read } = encoder.encodeInto(text, room);
  return text.slice(0, read) + mark;
}

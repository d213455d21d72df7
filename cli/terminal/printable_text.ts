/**
 * What a program may write to a terminal. Names and messages come from others: from objects, agents and
 * servers, and a terminal obeys what is in them.
 *
 * @module
 */
import { SGR } from "./paint.ts";

/** What a terminal obeys or a reader can't see, but for tabs and ends of lines; first our own colours. */
const UNPRINTED = new RegExp(
  `(${SGR.source})|(?![\\n\\t])[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}]`,
  "gu",
);

/** Where a line might end. */
const LINE_ENDS = /[\n\r\v\f\x85\u2028\u2029]+/g;

/** The text with a space for each character that is none; colours stay where `color` is on. */
export function printableText(text: string, { color }: { readonly color: boolean }): string {
  return text.replaceAll(UNPRINTED, (_, own?: string) => color && own !== undefined ? own : " ");
}

/** Lines of text, each ended by one line feed, whatever is in it. */
export function textLines(lines: readonly string[]): string {
  return lines.map((line) => `${line.replaceAll(LINE_ENDS, " ")}\n`).join("");
}

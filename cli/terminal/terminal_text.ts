/**
 * Text for a terminal: colours, width, harmless characters, and complete writes.
 *
 * @module
 */
import { inspect, styleText } from "node:util";
import stringWidth from "string-width";

const PAINTS = ["bold", "dim", "red", "green", "yellow", "blue", "cyan"] as const;

/** A colour or weight of text. */
export type Paint = typeof PAINTS[number];

/** How a terminal shows text. */
export interface TerminalStyle {
  /** Characters in a line. @default {80} */
  readonly columns?: number;
  /** Whether to use escape sequences for colours. @default {false} */
  readonly color?: boolean;
}

/** The text in this tone, or unchanged without one, or where `color` is off. */
export function paint(
  text: string,
  tone: Paint | undefined,
  { color = false }: TerminalStyle,
): string {
  if (!color || tone === undefined || text === "") return text;
  return styleText(tone, text, { validateStream: false });
}

/**
 * Whether to use colour: only on a terminal, and not if the variable NO_COLOR is set and not empty
 * (no-color.org).
 */
export function wantsColor(
  { isTerminal, noColor }: { readonly isTerminal: boolean; readonly noColor: string | undefined },
): boolean {
  return isTerminal && (noColor === undefined || noColor === "");
}

/** This program's colours, or control and format characters other than tabs and line feeds. */
const UNPRINTED = new RegExp(
  `(\\x1b\\[(?:${
    PAINTS.flatMap((tone) => inspect.colors[tone]).join("|")
  })m)|(?![\\n\\t])[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}]`,
  "gu",
);

/** Where a line might end. */
const LINE_ENDS = /[\n\r\v\f\x85\u2028\u2029]+/g;

/** The text with spaces in place of control characters; colours stay where `color` is on. */
export function printableText(text: string, { color }: { readonly color: boolean }): string {
  return text.replaceAll(UNPRINTED, (_, tone?: string) => color && tone !== undefined ? tone : " ");
}

/** Lines of text, each ended by one line feed, and without others. */
export function textLines(lines: readonly string[]): string {
  return lines.map((line) => `${line.replaceAll(LINE_ENDS, " ")}\n`).join("");
}

/** Columns that a terminal needs for the line: two for a wide character, none for a combining one. */
export function textWidth(line: string): number {
  return stringWidth(printableText(line.replaceAll(LINE_ENDS, " "), { color: true }));
}

/** Lines of a terminal with so many columns that the line takes. */
export function wrappedLines(line: string, columns: number): number {
  return Math.max(1, Math.ceil(textWidth(line) / columns));
}

/** The text cut to this width, with `…` at a cut. */
export function cutText(text: string, columns: number): string {
  if (textWidth(text) <= columns) return text;
  let start = "";
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (textWidth(start + segment) >= columns) break;
    start += segment;
  }
  return `${start}…`;
}

/** Where the bytes go, for instance `Deno.stdout`. */
export interface ByteSink {
  /** Writes some of the bytes, at least one; returns how many. */
  writeSync(bytes: Uint8Array): number;
}

/**
 * Writes the text as UTF-8. A single write to a pipe may take a part of it. Throws what the stream
 * throws: `Deno.errors.BrokenPipe` when the output is no longer read.
 */
export function writeWhole(text: string, sink: ByteSink): void {
  let rest = new TextEncoder().encode(text);
  while (rest.length > 0) rest = rest.subarray(sink.writeSync(rest));
}

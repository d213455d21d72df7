/**
 * Text for a terminal: its colours and width, nothing that a terminal obeys, and all of it.
 *
 * @module
 */
import { inspect, styleText } from "node:util";
import stringWidth from "string-width";

const PAINTS = ["bold", "dim", "red", "green", "yellow", "blue", "cyan"] as const;

/** A way to set text apart. */
export type Paint = typeof PAINTS[number];

/** How a terminal shows text. */
export interface TerminalStyle {
  /** Characters in a line. @default {80} */
  readonly columns?: number;
  /** Whether escape sequences may set text apart. @default {false} */
  readonly color?: boolean;
}

/** The text set apart, or as it is where `color` is off, or nothing sets it apart. */
export function paint(
  text: string,
  how: Paint | undefined,
  { color = false }: TerminalStyle,
): string {
  if (!color || how === undefined || text === "") return text;
  return styleText(how, text, { validateStream: false });
}

/**
 * Whether to use colour: only on a terminal, and not if the variable NO_COLOR is set to anything
 * but nothing (no-color.org).
 */
export function wantsColor(
  { isTerminal, noColor }: { readonly isTerminal: boolean; readonly noColor: string | undefined },
): boolean {
  return isTerminal && (noColor === undefined || noColor === "");
}

/**
 * Characters that terminals obey or readers can't see, but tabs and line feeds; first our own colours.
 */
const UNPRINTED = new RegExp(
  `(\\x1b\\[(?:${
    PAINTS.flatMap((how) => inspect.colors[how]).join("|")
  })m)|(?![\\n\\t])[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}]`,
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

/** Columns that a terminal needs for the line: two for a wide character, none for a combining one. */
export function textWidth(line: string): number {
  return stringWidth(printableText(line.replaceAll(LINE_ENDS, " "), { color: true }));
}

/** Lines of a terminal with so many columns that the line takes. */
export function wrappedLines(line: string, columns: number): number {
  return Math.max(1, Math.ceil(textWidth(line) / columns));
}

/** The text, with `…` for what makes it wider than so many columns. */
export function cutText(text: string, columns: number): string {
  if (textWidth(text) <= columns) return text;
  let kept = "";
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (textWidth(kept + segment) >= columns) break;
    kept += segment;
  }
  return `${kept}…`;
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

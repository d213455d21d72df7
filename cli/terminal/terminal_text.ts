/**
 * Text for a terminal: its colours, nothing that a terminal obeys, and all of it.
 *
 * @module
 */

/** SGR parameters (ECMA-48, section 8.3.117). */
const CODES = {
  bold: "1",
  dim: "2",
  red: "31",
  green: "32",
  yellow: "33",
  blue: "34",
  cyan: "36",
} as const;

/** The sequences that {@linkcode paint} writes. */
export const SGR = new RegExp(`\\x1b\\[(?:0|${Object.values(CODES).join("|")})m`);

/** A way to set text apart. */
export type Paint = keyof typeof CODES;

/** How a terminal shows text. */
export interface TerminalLook {
  /** Characters in a line. @default {80} */
  readonly columns?: number;
  /** Whether escape sequences may set text apart. @default {false} */
  readonly color?: boolean;
}

/** The text set apart, or as it is where `color` is off, or nothing sets it apart. */
export function paint(
  text: string,
  how: Paint | undefined,
  { color = false }: TerminalLook,
): string {
  return color && how !== undefined && text !== "" ? `\x1b[${CODES[how]}m${text}\x1b[0m` : text;
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

/**
 * Colour of terminal text, as an argument: the drawing function decides what matters, its caller
 * decides whether the terminal shows colour.
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

/** The text set apart, or as it is where `color` is off. */
export function paint(text: string, how: Paint, { color = false }: TerminalLook): string {
  return color && text !== "" ? `\x1b[${CODES[how]}m${text}\x1b[0m` : text;
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

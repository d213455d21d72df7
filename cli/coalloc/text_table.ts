/**
 * Columns of text for a terminal.
 *
 * @module
 */
import { type Paint, paint, type TerminalLook } from "../terminal/paint.ts";
import { textLines } from "../terminal/printable_text.ts";

/** A cell: its characters, and how they are set apart. */
export interface Cell {
  readonly text: string;
  readonly how?: Paint;
}

/** A column. */
export interface Column {
  readonly head: string;
  /** Numbers stand at the right of their column. @default {"left"} */
  readonly align?: "left" | "right";
}

/** What is to be shown. */
export interface TextTable {
  readonly columns: readonly Column[];
  /** Cells in the order of the columns; missing ones are empty. */
  readonly rows: readonly (readonly Cell[])[];
}

const GAP = "   ";

/**
 * The table with its head, each line ended by a line feed. Widths are those of the widest cell; only a
 * cell's own characters are painted.
 */
export function textTable({ columns, rows }: TextTable, look: TerminalLook = {}): string {
  const head = columns.map(({ head }): Cell => ({ text: head, how: "bold" }));
  const lines = [head, ...rows];
  const widths = columns.map((_, index) =>
    Math.max(...lines.map((cells) => cells[index]?.text.length ?? 0))
  );
  return textLines(lines.map((cells) => {
    const parts = columns.map(({ align = "left" }, index) => {
      const { text, how } = cells[index] ?? { text: "" };
      const space = " ".repeat((widths[index] ?? 0) - text.length);
      const last = index === columns.length - 1 && align === "left";
      const painted = how === undefined ? text : paint(text, how, look);
      return align === "right" ? space + painted : painted + (last ? "" : space);
    });
    return parts.join(GAP).trimEnd();
  }));
}

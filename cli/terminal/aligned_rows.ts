/**
 * Rows of cells below each other, for all tables.
 *
 * @module
 */
import { type Paint, paint, type TerminalStyle, textWidth } from "./terminal_text.ts";

/** A cell: its characters, and how they are set apart. */
export interface Cell {
  readonly text: string;
  readonly how?: Paint | undefined;
}

/** Where columns stand, and whether in colour. */
export interface RowLayout {
  readonly gap: string;
  /** Columns that begin at their left; the others end at their right. */
  readonly left: readonly number[];
  /** @default no colours */
  readonly style?: TerminalStyle;
}

/** Lines with columns as wide as the widest cell. Only a cell's own characters are painted. */
export function alignedRows(
  rows: readonly (readonly (Cell | string)[])[],
  { gap, left, style = {} }: RowLayout,
): string[] {
  const cells = rows.map((row) => row.map((one): Cell => asCell(one)));
  const widths = Array.from(
    { length: Math.max(0, ...cells.map((row) => row.length)) },
    (_, column) => Math.max(...cells.map((row) => textWidth(row[column]?.text ?? ""))),
  );
  return cells.map((row) =>
    widths.map((width, column) => {
      const { text, how } = row[column] ?? { text: "" };
      const space = " ".repeat(width - textWidth(text));
      const painted = paint(text, how, style);
      return left.includes(column) ? painted + space : space + painted;
    }).join(gap).trimEnd()
  );
}

/** Text alone is a cell that is not set apart. */
export function asCell(one: Cell | string): Cell {
  return typeof one === "string" ? { text: one } : one;
}

/**
 * Rows of cells in aligned columns, for all tables.
 *
 * @module
 */
import { type Paint, paint, type TerminalStyle, textWidth } from "./terminal_text.ts";

/** A cell: its text, and the colour or weight of that. */
export interface Cell {
  readonly text: string;
  readonly tone?: Paint | undefined;
}

/** Layout of the rows. */
export interface RowLayout {
  readonly gap: string;
  /** Indexes of left-aligned columns; the others are right-aligned. */
  readonly left: readonly number[];
  /** @default no colours */
  readonly style?: TerminalStyle;
}

/** Lines with columns as wide as their widest cell. Only the text of cells is painted. */
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
      const { text, tone } = row[column] ?? { text: "" };
      const space = " ".repeat(width - textWidth(text));
      const painted = paint(text, tone, style);
      return left.includes(column) ? painted + space : space + painted;
    }).join(gap).trimEnd()
  );
}

/** Makes a cell of plain text. */
export function asCell(one: Cell | string): Cell {
  return typeof one === "string" ? { text: one } : one;
}

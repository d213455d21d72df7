/**
 * Output as a table, as JSON or as YAML.
 *
 * @module
 */
import { stringify } from "yaml";
import { type Paint, paint, type TerminalLook } from "../terminal/paint.ts";
import { textLines } from "../terminal/printable_text.ts";

/** A form of output; `patch` of `recommend` alone. */
export type OutputFormat = "table" | "wide" | "json" | "yaml" | "patch";

/** What all commands have, for help and completion. */
export const OUTPUT_FORMATS: readonly OutputFormat[] = ["table", "wide", "json", "yaml"];

/** The value as JSON or YAML, ended by a line feed; undefined for forms that people read. */
export function structuredOutput(value: unknown, format: OutputFormat): string | undefined {
  if (format === "json") return `${JSON.stringify(value, null, 2)}\n`;
  // By way of JSON: absent members stay absent, and nothing but plain data is left.
  if (format === "yaml") return stringify(JSON.parse(JSON.stringify(value)), { lineWidth: 0 });
  return undefined;
}

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

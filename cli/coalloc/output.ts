/**
 * Output as a table, as JSON or as YAML.
 *
 * @module
 */
import { stringify } from "yaml";
import { alignedRows, asCell, type Cell } from "../terminal/aligned_rows.ts";
import { cutText, type TerminalStyle, textLines, textWidth } from "../terminal/terminal_text.ts";

/** A form of output; `patch` of `recommend` alone. */
export type OutputFormat = "table" | "wide" | "json" | "yaml" | "csv" | "markdown" | "patch";

/** The forms of output that all commands have, for help and completion. */
export const OUTPUT_FORMATS: readonly OutputFormat[] = ["table", "wide", "json", "yaml"];

/** The forms of commands that print a table. */
export const TABLE_FORMATS: readonly OutputFormat[] = [...OUTPUT_FORMATS, "csv", "markdown"];

/**
 * The view as JSON or YAML, or all columns of its table as CSV (RFC 4180, lines ended by a line feed) or
 * Markdown, with the notes on standard error; undefined for `table` and `wide`.
 */
export function dataOutput<Row>(
  view: { readonly notes: readonly string[] },
  table: RowTable<Row>,
  { output, world, watchMs }: {
    readonly output: OutputFormat;
    readonly world: { readonly err: (text: string) => void };
    /** With a watch JSON has a line for each view. */
    readonly watchMs?: number | undefined;
  },
): string | undefined {
  if (output === "json" && watchMs !== undefined) return `${JSON.stringify(view)}\n`;
  if (output !== "csv" && output !== "markdown") return structuredOutput(view, output);
  world.err(textLines(view.notes));
  const columns = table.columns.filter(({ drawn = false }) => !drawn);
  const cells = [
    columns.map(({ head }) => head),
    ...table.rows.map((row) => columns.map(({ cell }) => asCell(cell(row)).text)),
  ];
  if (output === "csv") {
    const quoted = (text: string): string =>
      /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    return textLines(cells.map((row) => row.map(quoted).join(",")));
  }
  return textLines(markdownLines(columns, cells.slice(1)));
}

/** The lines of a table in Markdown. */
export function markdownLines(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
): readonly string[] {
  const line = (row: readonly string[]): string => `| ${row.join(" | ")} |`;
  const [head = [], ...cells] = [columns.map(({ head }) => head), ...rows]
    .map((row) => row.map(markdownText));
  const rule = columns.map(({ align = "left" }) => align === "left" ? "---" : "---:");
  return [head, rule, ...cells].map(line);
}

/** The text on one line of Markdown: it is not read as markup within a line, and ends no cell. */
export function markdownText(text: string): string {
  return text.replaceAll(/\s+/g, " ").replaceAll(/[\\`*_~[\]|&]/g, "\\$&").replaceAll("<", "&lt;");
}

/** The value as JSON or YAML, ended by a line feed; undefined for other forms. */
export function structuredOutput(value: unknown, format: OutputFormat): string | undefined {
  if (format === "json") return `${JSON.stringify(value, null, 2)}\n`;
  // Through JSON, so that undefined members are left out.
  if (format === "yaml") return stringify(JSON.parse(JSON.stringify(value)), { lineWidth: 0 });
  return undefined;
}

/** A column. */
export interface Column {
  readonly head: string;
  /** `right` for numbers. @default {"left"} */
  readonly align?: "left" | "right";
}

/** The columns and rows to print. */
export interface TextTable {
  readonly columns: readonly Column[];
  /** Cells in the order of the columns; missing ones are empty. */
  readonly rows: readonly (readonly (Cell | string)[])[];
}

/** The table with its head, each line ended by a line feed. */
export function textTable({ columns, rows }: TextTable, style: TerminalStyle = {}): string {
  const head = columns.map(({ head }): Cell => ({ text: head, tone: "bold" }));
  const left = columns.flatMap(({ align = "left" }, column) => align === "left" ? [column] : []);
  return textLines(alignedRows([head, ...rows], { gap: "   ", left, style }));
}

/** A column, and its cell in each row. */
export interface RowColumn<Row> extends Column {
  readonly cell: (row: Row) => Cell | string;
  /** In wide tables only. */
  readonly wide?: true;
  /** A bar: left out of CSV and Markdown. */
  readonly drawn?: true;
  /** Where lines are too long, columns are dropped by this, the highest first; without it never. */
  readonly dropPriority?: number;
  /** Characters down to which the last column is cut before it is dropped. */
  readonly minWidth?: number;
}

/** Rows and columns of a table. */
export interface RowTable<Row> {
  readonly rows: readonly Row[];
  readonly columns: readonly RowColumn<Row>[];
}

/** The table with as many columns as fit the terminal. */
export function fittedTable<Row>({ rows, columns }: RowTable<Row>, style: TerminalStyle): string {
  const { columns: width = Infinity } = style;
  for (let kept = Math.max(...columns.map(({ dropPriority = 0 }) => dropPriority));; kept--) {
    const shown = columns.filter(({ dropPriority = 0 }) => dropPriority <= kept);
    const cells = rows.map((row) => shown.map(({ cell }) => asCell(cell(row))));
    const table = { columns: shown, rows: cells };
    const excess = Math.max(...textTable(table).split("\n").map(textWidth)) - width;
    if (excess <= 0 || kept === 0) return textTable(table, style);
    const { dropPriority, minWidth = Infinity } = shown.at(-1) ?? {};
    const room = Math.max(...cells.map((one) => textWidth(one.at(-1)?.text ?? ""))) - excess;
    if (dropPriority === kept && room >= minWidth) {
      return textTable({ columns: shown, rows: cells.map((one) => lastCut(one, room)) }, style);
    }
  }
}

function lastCut(cells: readonly Cell[], width: number): readonly Cell[] {
  return cells.map((one, at) =>
    at < cells.length - 1 ? one : { ...one, text: cutText(one.text, width) }
  );
}

/**
 * What the runner prints of files.
 *
 * @module
 */
import type { FileResult } from "./file_process.ts";
import type { SuiteFile } from "./suite_table.ts";

/** Layer, lane and seconds of each file, in the table's order. */
export function fileTable(files: readonly SuiteFile[]): string {
  return table(files.map(({ name, layer, lane, seconds }) => [
    name,
    layer === "core" ? "core" : `rotation ${layer}`,
    lane,
    `${seconds} s`,
  ]));
}

/** Files by the time that they took, the longest first. */
export function resultTable(results: readonly FileResult[]): string {
  const sorted = results.toSorted((a, b) => b.ms - a.ms);
  return table(sorted.map(({ file: { name, lane }, sums: { passed, failed, ignored }, ms }) => [
    name,
    lane,
    `${(ms / 1000).toFixed(1)} s`,
    `${passed} passed`,
    `${failed} failed`,
    `${ignored} ignored`,
  ]));
}

/** Output of a file, indented: a line at the left would be taken for the summary of all. */
export function indented(output: string): string {
  return output.trim().split("\n").map((line) => line === "" ? "" : `    ${line}`).join("\n");
}

function table(rows: readonly (readonly string[])[]): string {
  const width = (column: number): number =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0));
  return rows.map((row) =>
    `  ${row.map((cell, column) => cell.padEnd(width(column))).join("  ")}`.trimEnd()
  ).join("\n");
}

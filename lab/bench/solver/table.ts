/**
 * The solver benchmark's report as text.
 *
 * @module
 */
import type { SolverResidual } from "./exactness.ts";
import type { SolverTime } from "./timing.ts";

/** What was measured. */
export interface SolverReport {
  readonly times: readonly SolverTime[];
  readonly residuals: readonly SolverResidual[];
}

/** Two tables: times by number of bids and mode, and the residuals. */
export function solverTable({ times, residuals }: SolverReport): string {
  return [
    "Time per clearing",
    ...columns([
      ["bids", "mode", "median", "least", "per bid"],
      ...times.map(({ count, mode, medianNs, leastNs }) => [
        count.toLocaleString("en"),
        mode,
        duration(medianNs),
        duration(leastNs),
        duration(medianNs / count),
      ]),
    ]),
    "",
    "Distance from the optimum (at most 1e-9 is asked for)",
    ...columns([
      ["clearings", "mode", "residual"],
      ...residuals.map(({ clearings, mode, largest }) => [
        clearings.toLocaleString("en"),
        mode,
        largest.toExponential(1),
      ]),
    ]),
  ].join("\n");
}

function duration(ns: number): string {
  return ns < 1000 ? `${ns.toFixed(0)} ns` : `${(ns / 1000).toFixed(1)} µs`;
}

/** Rows with each column as wide as its widest cell; the second to the left, numbers to the right. */
function columns(rows: readonly (readonly string[])[]): string[] {
  const width = (index: number): number => Math.max(...rows.map((row) => row[index]?.length ?? 0));
  return rows.map((row) =>
    row.map((cell, index) => index === 1 ? cell.padEnd(width(index)) : cell.padStart(width(index)))
      .join("  ").trimEnd()
  );
}

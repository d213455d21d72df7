/**
 * The benchmark of control algorithms as a table.
 *
 * @module
 */
import type { VariantRow } from "./play_variant.ts";

const HEAD = [
  "design",
  "cost",
  "most",
  "held",
  "changes",
  "thr",
  "reaction",
  "p95",
  "crowd P99",
  "thr",
  "changes",
  "reaction",
];
const LEGEND = [
  "cost: cores / those of the oracle with a change every two minutes; median, most of the traces",
  "held: traces with a P99 within the P99 without limits + 100 ms; changes: per pod and minute",
  "thr: throttled ms per s; reaction: burst begins → limit ≥ demand, median and P95, ms",
  "crowd: thirty small pods on eight cores",
];

/** A line per design, in columns, with a legend. */
export function algorithmTable(rows: readonly VariantRow[]): string {
  const cells = rows.map((row) => [
    row.name,
    row.costMedian.toFixed(2),
    row.costMost.toFixed(2),
    String(row.held),
    row.changesPerPodMinute.toFixed(2),
    row.throttledMsPerS.toFixed(0),
    figure(row.reactionMsMedian),
    figure(row.reactionMsP95),
    row.crowd.p99Ms.toFixed(0),
    row.crowd.throttledMsPerS.toFixed(0),
    row.crowd.changesPerPodMinute.toFixed(2),
    figure(row.crowd.reactionMsMedian),
  ]);
  const widths = HEAD.map((name, column) =>
    Math.max(name.length, ...cells.map((line) => line[column]?.length ?? 0))
  );
  const lines = [HEAD, ...cells].map((line) =>
    line.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)
    ).join("  ")
  );
  return [...lines, "", ...LEGEND].join("\n");
}

function figure(value: number | undefined): string {
  return value === undefined ? "–" : value.toFixed(0);
}

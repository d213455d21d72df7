/**
 * The demo in the terminal: cores under one algorithm, throttling beside that of others, and the
 * scores of the runs.
 *
 * @module
 */
import { envelope, throttledPerStep } from "../simulation/report/envelope.ts";
import { formatCores, formatFigure } from "../simulation/report/figure.ts";
import { shorten } from "../simulation/report/html.ts";
import type { RunRecord } from "../simulation/run_record.ts";
import {
  blockLines,
  chartAxis,
  chartText,
  plotWidth,
  scaleLabel,
} from "../../cli/terminal/chart_frame.ts";
import { paint, type TerminalStyle, textWidth } from "../../cli/terminal/terminal_text.ts";
import { isBest, SCORE_MEASURES } from "../simulation/report/score_measures.ts";
import { alignedRows, type Cell } from "../../cli/terminal/aligned_rows.ts";

const CORE_ROWS = 8;
const THROTTLE_ROWS = 3;
/** The axis of cores ends at this multiple of the capacity, or at the highest usage. */
const MOST_OF_CAPACITY = 1.5;
const LIMIT = "━";
const CAPACITY = "┄";

/**
 * Σ limits, Σ usage and capacity over time, in cores. Without colour the characters alone distinguish
 * them apart, and where capacity meets one of the others the two alternate. Each character column
 * is the mean of an equal stretch of time.
 */
export function coresChart(run: RunRecord, style: TerminalStyle = {}): string {
  const width = plotWidth(style);
  // While CPU is free limits sum to many times the capacity: the axis ends before, and they lie on it.
  const most = MOST_OF_CAPACITY * run.capacity;
  const limits = stretched(run.sumLimits, { run, width }).map((sum) => Math.min(most, sum));
  const isCut = limits.some((sum) => sum === most);
  const usage = stretched(run.sumUsage, { run, width });
  if (limits.length === 0) return "No steps were recorded: nothing to draw.\n";
  const top = Math.max(...limits, ...usage, run.capacity) * 1.05;
  const row = (value: number): number => CORE_ROWS - 1 - Math.floor(value / top * CORE_ROWS);
  const filled = blockLines(usage, { rows: CORE_ROWS, top });
  const lines = filled.map((blocks, line) => {
    let met = 0;
    const cells = [...blocks].map((block, column) => {
      const limited = row(limits[column] ?? -1) === line;
      if (row(run.capacity) === line) {
        met = limited || block !== " " ? met + 1 : 0;
        if (met % 2 === 0) return paint(CAPACITY, "yellow", style);
      }
      if (limited) return paint(LIMIT, "blue", style);
      return block === " " ? block : paint(block, "green", style);
    });
    const value = (CORE_ROWS - line) / CORE_ROWS * top;
    return scaleLabel(line % 2 === 0 ? formatFigure(value / 1000) : "") + cells.join("");
  });
  const legend = [
    `${paint(LIMIT, "blue", style)} Σ limits${isCut ? " (beyond the axis)" : ""}`,
    `${paint("█", "green", style)} Σ usage`,
    `${paint(CAPACITY, "yellow", style)} capacity, ${formatCores(run.capacity)} cores`,
  ].join("   ");
  return chartText([
    paint(`Cores under ${run.algorithm}`, "bold", style),
    legend,
    ...lines,
    ...axis(run, width),
  ]);
}

/** Throttled ms/s of all pods over time under each of the runs, on one scale. */
export function throttlingChart(runs: readonly RunRecord[], style: TerminalStyle = {}): string {
  const width = plotWidth(style);
  const series = runs.map((run) => stretched(throttledPerStep(run), { run, width }));
  const first = runs[0];
  const top = Math.max(0, ...series.flat());
  if (first === undefined || top === 0) return "No pod was throttled under any algorithm.\n";
  const panels = runs.flatMap((run, index) => {
    const lines = blockLines(series[index] ?? [], { rows: THROTTLE_ROWS, top });
    const mean = `${shorten(run.algorithm, 40)}, mean ${
      formatFigure(run.scores.throttledMsPerS)
    } ms/s`;
    return [
      `${scaleLabel("")}${mean}`,
      ...lines.map((line, row) =>
        scaleLabel(row === 0 ? formatFigure(top) : "") + painted(line, { index, style })
      ),
    ];
  });
  return chartText([
    paint("Throttled ms/s, all pods", "bold", style),
    ...panels,
    ...axis(first, width),
  ]);
}

function painted(
  line: string,
  { index, style }: { readonly index: number; readonly style: TerminalStyle },
): string {
  const text = line.trimEnd();
  return paint(text, index === 0 ? "blue" : "yellow", style);
}

/** One mean per character column; a short series is spread over several columns each. */
function stretched(
  series: readonly number[],
  { run, width }: { readonly run: RunRecord; readonly width: number },
): number[] {
  const means = envelope(series, { stepS: run.stepS, points: width }).map((point) => point.mean);
  if (means.length === 0) return [];
  return Array.from({ length: width }, (_, column) => {
    const mean = means[Math.floor(column * means.length / width)] ?? 0;
    return Number.isFinite(mean) ? mean : 0;
  });
}

/** The line below a chart and the minutes at its ends and middle. */
function axis(run: RunRecord, width: number): string[] {
  const [middle, end] = [formatMinutes(run.minutes / 2), formatMinutes(run.minutes)];
  return chartAxis(width, { start: "0 m", middle, end });
}

function formatMinutes(minutes: number): string {
  return `${Number(minutes.toFixed(1))} m`;
}

/** Longer names of algorithms are cut. */
const ALGORITHM_WIDTH = 20;
const GAPS = ["  ", " "];

/** The table, each line ended by a line feed; empty without runs. */
export function scoreTable(runs: readonly RunRecord[], style: TerminalStyle = {}): string {
  const { columns = 80 } = style;
  if (runs.length === 0) return "";
  for (const gap of GAPS) {
    if (widthOf(algorithmPerLine(runs, { gap })) <= columns) {
      return textOf(algorithmPerLine(runs, { gap, style }), { heads: 2, style });
    }
  }
  return measurePerLine(runs, style);
}

/** By measure and run; the best figure is set apart. */
function cellsOf(runs: readonly RunRecord[]): Cell[][] {
  return SCORE_MEASURES.map((measure) =>
    runs.map((run) => {
      const text = measure.text(run);
      return isBest(measure, run, { runs }) ? { text, tone: "green" } : { text };
    })
  );
}

function algorithmPerLine(
  runs: readonly RunRecord[],
  { gap, style = {} }: { readonly gap: string; readonly style?: TerminalStyle },
): string[] {
  const cells = cellsOf(runs).map((column) =>
    column.map((cell) => ({ ...cell, text: cell.text.replace(/ (?:\/|of) /, "/") }))
  );
  return alignedRows(
    [
      ["algorithm", ...SCORE_MEASURES.map(({ head }) => head[0] ?? "")],
      ["", ...SCORE_MEASURES.map(({ head }) => head[1] ?? "")],
      ...runs.map((run, row) => [nameOf(run), ...cells.map((column) => column[row] ?? "")]),
    ],
    { gap, left: [0], style },
  );
}

function measurePerLine(runs: readonly RunRecord[], style: TerminalStyle): string {
  const { columns = 80 } = style;
  const cells = cellsOf(runs);
  const lines = (how: TerminalStyle) =>
    alignedRows(
      [
        ["", ...runs.map(nameOf)],
        ...SCORE_MEASURES.map(({ head }, index) => [head.join(" "), ...cells[index] ?? []]),
      ],
      { gap: "  ", left: [0], style: how },
    );
  if (widthOf(lines({})) <= columns || runs.length === 1) {
    return textOf(lines(style), { heads: 1, style });
  }
  // Too many algorithms for the width: halve them, a table below the other.
  const half = Math.ceil(runs.length / 2);
  return [runs.slice(0, half), runs.slice(half)].map((part) => measurePerLine(part, style))
    .join("\n");
}

function nameOf({ algorithm }: RunRecord): string {
  return shorten(algorithm, ALGORITHM_WIDTH);
}

function widthOf(lines: readonly string[]): number {
  return Math.max(...lines.map((line) => textWidth(line)));
}

function textOf(
  lines: readonly string[],
  { heads, style }: { readonly heads: number; readonly style: TerminalStyle },
): string {
  return lines.map((line, index) => `${index < heads ? paint(line, "dim", style) : line}\n`)
    .join("");
}
